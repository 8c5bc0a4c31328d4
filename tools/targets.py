"""List every item: what to type, whether it is made, how long it takes, whether it needs a GPU. Usage: make targets."""

from pathlib import Path

from clusterlens.items import Item, read_items

ROOT = Path(__file__).resolve().parent.parent
PLACES = {"results": "paper", "results/laptop": "laptop", "results/mini": "mini"}

LEGEND = """made: with which configuration; mini, paper: the time with each; GPU: whether the paper's needs one
In mini, results/<item> is results/mini/<item>: snakemake --cores 2 --configfile config/mini.yaml results/mini/<item>
On a laptop likewise, with config/laptop.yaml: results/laptop/<item>
Whole papers: snakemake --list-target-rules"""


def cost(item: Item) -> tuple[str, str, str]:
    """Its time in mini and with the paper configuration, and whether that needs a GPU."""
    return f"{item.mini_seconds} s" if item.mini_seconds else "–", item.paper_time, "yes" if item.gpu else "no"


def state(item: Item, root: Path = ROOT) -> str:
    """With which configurations the item has been made here: all its files and the manifest, which comes last."""
    if not item.built:
        return "no rule yet"
    files = [*item.files, item.manifest]
    made = [
        label
        for place, label in PLACES.items()
        if all((root / file.replace("<results>", place)).is_file() for file in files)
    ]
    return ", ".join(made) or "–"


def main() -> None:
    rows = [("target", "made", "mini", "GPU", "paper")]
    for item in read_items():
        mini, paper, gpu = cost(item)
        rows.append((item.target, state(item), mini, gpu, paper))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    print("\n".join([*lines, "", LEGEND]))


if __name__ == "__main__":
    main()
