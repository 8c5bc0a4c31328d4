"""The atlas shows what is there, says what is not, and escapes all of it."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from clusterlens import imports
from clusterlens.atlas import verdicts
from clusterlens.atlas.captions import as_html
from clusterlens.atlas.collect import Atlas, collect
from clusterlens.atlas.findings import read_findings
from clusterlens.atlas.pages import TEMPLATES, tolerance, write_pages
from clusterlens.atlas.report import landing
from clusterlens.atlas.settings import flat, listed
from clusterlens.errors import UserError
from clusterlens.items import PAPERS, PUBLISHED, read_items
from clusterlens.metrics.shown import short
from clusterlens.verify import claims, compare
from reference.results_tree import HOSTILE, write_tree


def read(tree: Path) -> Atlas:
    return collect(tree, findings=read_findings(), label="mini")


@pytest.fixture(scope="module")
def atlas(tmp_path_factory) -> Atlas:
    atlas = read(write_tree(tmp_path_factory.mktemp("atlas")))
    write_pages(atlas, atlas.tree / "atlas")
    return atlas


def page(atlas: Atlas, name: str) -> str:
    return (atlas.tree / "atlas" / f"{name}.html").read_text()


class Tags(HTMLParser):
    """All tags with their attributes; `unclosed` are those left open."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.unclosed: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "img", "input", "br"):
            self.unclosed.append(tag)

    def handle_endtag(self, tag):
        assert self.unclosed.pop() == tag


def entry(atlas: Atlas, paper: str, name: str):
    return next(one for one in atlas.entries if (one.item.paper, one.item.name) == (paper, name))


def test_states_of_items(atlas):
    table, figure = entry(atlas, "spiking", "table1"), entry(atlas, "spiking", "fig1")
    heads, waiting = entry(atlas, "spiking", "fig2"), entry(atlas, "spiking", "table2")
    assert (table.state, table.data, table.missing) == ("done", "as in the paper", [])
    assert figure.missing == ["spiking/fig1.pdf", "spiking/fig1.numbers.csv", "spiking/fig1.mp4"]
    assert figure.link("mp4", "gif") == "../spiking/fig1.gif" and figure.link("pdf") == ""
    assert (heads.data, heads.stand_ins) == ("stand-in data", ["digits for CIFAR-10"])
    assert (waiting.state, waiting.data, waiting.missing) == ("not run", "no result", [])
    assert waiting.numbers[0]["published"] == "84.94"
    assert len(atlas.entries) == len(read_items().items) == sum(atlas.data_counts().values())


def test_numbers_are_joined_with_the_printed_ones(atlas):
    numbers = entry(atlas, "spiking", "table1").numbers
    assert [(row["column"], row["verdict"]) for row in numbers[:2]] == [("Parameters", "match"), ("Depth", "")]
    assert [row["seeds"] for row in numbers[:2]] == ["", "2"]  # the first is exact
    assert numbers[-1]["row"] == HOSTILE and numbers[-1]["verdict"] == "differs"
    assert [bool(row["published"]) for row in atlas.numbers[:4]] == [True, True, True, False]
    assert len(atlas.numbers) == 404


def test_settings_are_followed_upstream_as_far_as_there_are_manifests(atlas):
    own, upstream = entry(atlas, "spiking", "fig1").jobs
    assert (own.rule, upstream.rule) == ("plot_particles", "simulate_particles")
    assert dict(upstream.settings)["settings/beta"] == "9"


def test_every_page_is_whole_and_its_links_lead_somewhere(atlas):
    folder = atlas.tree / "atlas"
    names = {file.name for file in folder.iterdir()}
    wanted = {Path(item.page).name for item in read_items()} | {f"{paper}.html" for paper in PAPERS}
    assert wanted | {"index.html", "ledger.html", "atlas.css", "atlas.js"} == names
    for file in folder.glob("*.html"):
        tags = Tags(file.read_text())
        assert not tags.unclosed, file.name
        links = [attrs.get("href") or attrs.get("src") for _, attrs in tags.found if attrs.keys() & {"href", "src"}]
        for link in links:
            path = link.partition("#")[0]
            assert path == "" or path.startswith("data:") or (folder / path).exists(), f"{file.name}: {link}"


def test_what_comes_from_data_is_escaped(atlas):
    for name in ("spiking.fig1", "spiking.table1", "ledger", "index"):
        text = page(atlas, name)
        assert "<script>document" not in text and "&lt;script&gt;document" in text
    caption = as_html(
        ".. raw:: html\n\n   <b>bold</b>\n\n.. include:: pyproject.toml\n\n<script>x</script> and ``code``"
    )
    assert "<b>" not in caption and "<script>" not in caption and "clusterlens" not in caption and "code" in caption


def test_pages_say_what_is_missing(atlas):
    assert "Missing file: spiking/fig1.mp4" in page(atlas, "spiking.fig1")
    assert "Not run yet" in page(atlas, "spiking.table2")
    assert "No claim is judged on this figure" in page(atlas, "spiking.fig3")
    assert "Not the paper's data" in page(atlas, "spiking.fig2")
    assert "with the mini configuration" in page(atlas, "spiking.fig2")
    assert "E.polytope_reached has not been judged" in page(atlas, "index")


def test_an_empty_tree_still_gives_an_atlas(tmp_path):
    empty = read(tmp_path / "results")
    write_pages(empty, tmp_path / "atlas")
    text = (tmp_path / "atlas" / "index.html").read_text()
    assert "has not been drawn yet" in text and "No claim has been judged yet" in text
    assert {one.state for one in empty.entries} <= {"not run", "not built"}


def test_the_command_names_the_config_and_the_folder():
    mini = Atlas([], [], [], {}, "mini", Path("results/mini"))
    command = mini.command(read_items()["spiking", "table2"])
    assert command == "snakemake --cores 2 --resources gpu=1 --configfile config/mini.yaml -- results/mini/table2.csv"
    paper = Atlas([], [], [], {}, "paper", Path("results"))
    assert paper.command(read_items()["transformers", "fig3"]) == "snakemake --cores 2 -- results/transformers/fig3.png"


def test_every_verdict_has_a_symbol_of_its_own_and_a_readable_colour():
    assert set(verdicts.ORDER) == {*claims.VERDICTS, *compare.VERDICTS} == set(verdicts.SYMBOLS)
    assert len(set(verdicts.SYMBOLS.values())) == len(verdicts.SYMBOLS)
    assert all(verdicts.ink(verdict) != verdicts.colour(verdict) for verdict in verdicts.ORDER)


def test_findings_name_claims_that_exist(tmp_path):
    assert len(read_findings()["findings"]) == 5
    for name in ("claims.yaml", "findings.yaml"):
        (tmp_path / name).write_text((PUBLISHED / name).read_text().replace("[T.one_cluster,", "[T.one_clutser,"))
    with pytest.raises(UserError, match=r"unknown claim 'T\.one_clutser'.*T\.one_cluster"):
        read_findings(tmp_path)


def test_editing_a_template_reruns_the_rule():
    found = imports.closure(imports.PACKAGE.parent / "write_atlas.py")
    assert {imports.PACKAGE / "atlas" / name for name in TEMPLATES} <= set(found)
    assert {file.name for file in (imports.PACKAGE / "atlas" / "templates").iterdir()} == {
        Path(name).name for name in TEMPLATES
    }


def test_the_report_opens_with_the_picture(atlas):
    text = landing(atlas.tree / "verdicts.png")
    html = as_html(text)
    assert re.search(r'<img[^>]+src="data:image/png;base64,iVBOR', html) and 'href="atlas/index.html"' in html
    assert max(map(len, text.splitlines())) < 10_000  # docutils refuses longer lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [("0.123456", "0.1235"), ("12.0", "12"), ("21.34M", "21.34M"), ("", ""), ("123456.7", "123,457"), ("nan", "nan")],
)
def test_numbers_are_shortened_for_reading(text, shown):
    assert short(text) == shown


def test_settings_and_tolerances_read_well():
    assert dict(flat({"a": {"b": [1, 2], "c": None}})) == {"a/b": "1, 2", "a/c": "none"}
    assert listed(list(range(20))).endswith("11, … (20 in all)")
    assert [tolerance(text) for text in ("abs 0.02", "rel 0.05", "exact")] == ["± 0.02", "± 5 %", "exact"]
