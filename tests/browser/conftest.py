"""A headless Chromium, and an atlas of made-up results for it to open."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clusterlens.atlas.collect import collect
from clusterlens.atlas.findings import read_findings
from clusterlens.atlas.pages import write_pages
from reference.results_tree import write_tree

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# No sandbox, since continuous integration runs as root; no request of the browser's own, since there may be no network.
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync")
FLAGS += ("--disable-background-networking", "--disable-component-update", "--hide-scrollbars")


@pytest.fixture(scope="session")
def driver(tmp_path_factory) -> Iterator:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    program = shutil.which("chromedriver")
    if browser is None or program is None:
        pytest.skip("no Chromium with its driver (Debian: apt install chromium chromium-driver)")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=program))
    yield started
    started.quit()


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """The folder of the pages."""
    tree = write_tree(tmp_path_factory.mktemp("atlas"))
    write_pages(collect(tree, findings=read_findings(), label="mini"), tree / "atlas")
    return tree / "atlas"


@pytest.fixture
def resize(driver) -> Callable:
    """Give the window a width, and the height of a small screen."""

    def resize(width: int) -> None:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    return resize


@pytest.fixture
def visit(driver, folder, resize) -> Callable:
    """Open a page from scratch in a wide window; returns the driver."""

    def visit(address: str):
        driver.get("about:blank")
        driver.get_log("browser")
        resize(1400)
        driver.get(f"{folder.as_uri()}/{address}")
        return driver

    return visit
