"""The pages of the atlas, from templates; whatever comes from data is escaped."""

from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

from jinja2 import DictLoader, Environment, StrictUndefined

from clusterlens.atlas import verdicts
from clusterlens.atlas.captions import as_html
from clusterlens.atlas.collect import Atlas, Entry, counted
from clusterlens.atlas.settings import listed
from clusterlens.files import write_text
from clusterlens.items import PAPERS
from clusterlens.metrics.shown import short
from clusterlens.verify.results import DATA

TEMPLATES = (
    "templates/base.html",
    "templates/parts.html",
    "templates/index.html",
    "templates/paper.html",
    "templates/item.html",
    "templates/ledger.html",
    "templates/atlas.css",
    "templates/atlas.js",
)


def environment(atlas: Atlas) -> Environment:
    here = Path(__file__).parent
    sources = {Path(name).name: (here / name).read_text(encoding="utf-8") for name in TEMPLATES}
    made = Environment(loader=DictLoader(sources), autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    made.filters |= {
        "rst": as_html,
        "short": short,
        "counted": counted,
        "slug": verdicts.slug,
        "listed": listed,
        "interval": interval,
        "letter": lambda title: title.partition(" · ")[0],
        "name": lambda title: title.partition(" · ")[2],
        "words": lambda name: name.replace("_", " "),
        "sentence": lambda text: text[:1].upper() + text[1:],
        "tolerance": tolerance,
        "address": urlencode,
        "files": files,
    }
    made.globals |= {"atlas": atlas, "papers": PAPERS, "symbols": verdicts.SYMBOLS, "order": verdicts.ORDER}
    made.globals |= {"data_kinds": DATA, "colour": verdicts.colour, "ink": verdicts.ink}
    return made


def interval(row: dict) -> str:
    """The 95 % interval of a claim or a number; empty where there is none."""
    return f"{short(row['low'])} to {short(row['high'])}" if row["low"] else ""


def tolerance(text: str) -> str:
    """`abs 0.02` and `rel 0.05` of the comparison as a reader expects them."""
    kind, _, size = text.partition(" ")
    return f"± {size}" if kind == "abs" else f"± {100 * float(size):g} %" if kind == "rel" else text


def files(entry: Entry) -> list[tuple[str, str]]:
    """The item's files that are there, by extension."""
    return [(one, link) for one in entry.item.extensions if (link := entry.link(one))]


def write_pages(atlas: Atlas, folder: Path) -> None:
    """Every page of the atlas, its style and its script."""
    made = environment(atlas)

    def write(name: str, template: str, **values: object) -> None:
        write_text(folder / name, made.get_template(template).render(**values))

    write("index.html", "index.html", here="index")
    write("ledger.html", "ledger.html", here="ledger")
    for paper in PAPERS:
        claims = [claim for claim in atlas.claims if claim["paper"] == paper]
        write(f"{paper}.html", "paper.html", here=paper, paper=paper, claims=claims)
        for before, entry, after in neighbours(atlas.of(paper)):
            printed = sum(bool(row["published"]) for row in entry.numbers)
            values = {"here": paper, "entry": entry, "before": before, "after": after, "printed": printed}
            write(entry.page, "item.html", **values)
    write("atlas.css", "atlas.css")
    write("atlas.js", "atlas.js")


def neighbours(entries: list[Entry]) -> list[tuple[Entry | None, Entry, Entry | None]]:
    """Each with the one before and the one after it."""
    padded = [None, *entries, None]
    return [(before, entry, after) for (before, entry), (_, after) in pairwise(pairwise(padded)) if entry]
