"""The atlas in a real browser, from the file system: nothing missing, nothing too wide, and a ledger that works."""

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from clusterlens.items import PAPERS, read_items

PAGES = ["index.html", "ledger.html", "ledger.html#view=numbers&all=1", *(f"{paper}.html" for paper in PAPERS)]
PAGES += [f"{item.paper}.{item.name}.html" for item in read_items()]

# Elements that stick out of the window, but for what lies inside a box that scrolls.
STICKING_OUT = """
const wide = [];
for (const one of document.querySelectorAll("main *, header *")) {
  const out = one.getBoundingClientRect().right > innerWidth + 1;
  if (out && !one.closest(".scroll")) wide.push(one.outerHTML.slice(0, 80));
}
return [document.documentElement.scrollWidth - innerWidth, wide];
"""
BROKEN = "return [...document.images].filter((one) => one.complete && !one.naturalWidth).map((one) => one.src)"


def shown(driver, view: str = "claims") -> list[str]:
    """The text of the visible rows of the ledger."""
    rows = f"[...document.querySelectorAll('#{view} tbody tr')]"
    return driver.execute_script(f"return {rows}.filter((row) => row.offsetParent).map((row) => row.innerText)")


def address(driver) -> str:
    return driver.execute_script("return location.hash")


def choose(driver, name: str, value: str) -> None:
    Select(driver.find_element(By.NAME, name)).select_by_value(value)


def search(driver, words: str) -> None:
    field = driver.find_element(By.NAME, "words")
    field.clear()
    field.send_keys(words)


def test_every_page_loads_without_errors_and_fits_the_window(visit, resize):
    for page in PAGES:
        driver = visit(page)
        driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
        for width in (1400, 800):
            resize(width)
            assert driver.execute_script(STICKING_OUT) == [0, []], f"{page} at {width}"
        assert driver.execute_script(BROKEN) == [], page
        assert driver.get_log("browser") == [], page
        assert "clusterlens" in driver.title and "broken" not in driver.title, page


def test_the_landing_page_is_one_screen(visit):
    driver = visit("index.html")
    assert driver.execute_script("return document.documentElement.scrollHeight") <= 900
    assert len(driver.find_elements(By.CSS_SELECTOR, ".findings li")) == 5


def test_links_lead_through_the_atlas(visit):
    driver = visit("index.html")
    driver.find_element(By.PARTIAL_LINK_TEXT, "Particles gather").click()
    assert driver.current_url.endswith("/spiking.fig1.html#S.fig1_gathers")
    driver.find_element(By.CSS_SELECTOR, "[rel=next]").click()
    assert driver.current_url.endswith("/spiking.fig1_sweep.html")
    driver = visit("spiking.html")
    driver.find_element(By.CSS_SELECTOR, ".chips a").click()
    assert address(driver) == "#paper=spiking&verdict=reproduced" and len(shown(driver)) == 1


def test_filters_and_words_choose_rows(visit):
    driver = visit("ledger.html")
    assert len(shown(driver)) == 4
    choose(driver, "paper", "spiking")
    assert len(shown(driver)) == 3
    choose(driver, "data", "stand-in data")
    (row,) = shown(driver)
    assert "S.spikformer_heads_cluster" in row and "held here" in row
    choose(driver, "data", "")
    choose(driver, "paper", "")
    search(driver, "GATHER particles")
    assert len(shown(driver)) == 1
    search(driver, "gather nonsense")
    assert shown(driver) == [] and driver.find_element(By.ID, "nothing").is_displayed()
    driver.find_element(By.CSS_SELECTOR, "[type=reset]").click()
    assert len(shown(driver)) == 4 and address(driver) == ""


def test_numbers_come_in_parts_and_sort_by_value(visit):
    driver = visit("ledger.html")
    choose(driver, "view", "numbers")
    assert "404 of 404 numbers, the first 300 shown" in driver.find_element(By.ID, "count").text
    driver.find_element(By.ID, "more").click()
    assert not driver.find_element(By.ID, "more").is_displayed() and len(shown(driver, "numbers")) == 404
    search(driver, "filler")
    ours = driver.find_element(By.CSS_SELECTOR, "#numbers [data-sort=ours]")
    ours.click()
    assert "row 1:" in shown(driver, "numbers")[1]
    ours.click()
    assert "row 399:" in shown(driver, "numbers")[0]
    ours.click()
    assert "sort" not in address(driver)


def test_an_address_restores_its_state_and_the_back_button_takes_a_step_back(visit):
    driver = visit("ledger.html")
    choose(driver, "verdict", "not reproduced")
    search(driver, "gather")
    driver.find_element(By.CSS_SELECTOR, "#claims [data-sort=claim]").click()
    state, rows = address(driver), shown(driver)
    assert "verdict=not+reproduced" in state and "words=gather" in state and "sort=claim" in state
    driver = visit(f"ledger.html{state}")
    assert shown(driver) == rows and driver.find_element(By.NAME, "words").get_attribute("value") == "gather"
    assert driver.find_element(By.CSS_SELECTOR, "[aria-sort=ascending]").text.startswith("Claim")
    choose(driver, "verdict", "reproduced")
    driver.back()
    assert shown(driver) == rows and driver.find_element(By.NAME, "verdict").get_attribute("value") == "not reproduced"
    driver = visit("ledger.html#verdict=nonsense&view=nonsense&paper=spiking")
    assert len(shown(driver)) == 3


def test_print_shows_the_rows_without_the_controls(visit, resize):
    driver = visit("ledger.html#paper=spiking")
    resize(800)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not driver.find_element(By.ID, "filters").is_displayed() and len(shown(driver)) == 3
    assert driver.execute_script(STICKING_OUT) == [0, []]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_films_and_views_are_shown_next_to_the_caption(visit):
    driver = visit("spiking.fig1.html")
    left, right = (driver.find_element(By.CSS_SELECTOR, name).rect for name in (".pictures", ".caption"))
    assert left["y"] == right["y"] and left["x"] + left["width"] <= right["x"]
    driver.switch_to.frame(driver.find_element(By.TAG_NAME, "iframe"))
    assert driver.find_element(By.TAG_NAME, "p").text == "a view"
    driver.switch_to.default_content()
