"""All claims in one picture: a tile with colour and symbol per claim, a line per item, a panel per paper."""

import textwrap

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerPatch
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Text

from clusterlens.figures import style
from clusterlens.items import PAPERS, Register

COLOURS = {
    "reproduced": "#03664a",
    "not reproduced": "#8f0f0d",
    "undecided": "#976411",
    "cannot hold": "#381a6b",
    "contradicts itself": "#2c1605",
    "held at laptop scale": "#30a483",
    "did not hold at laptop scale": "#d6564f",
    "undecided at laptop scale": "#d49a36",
    "held here": "#8ed6be",
    "did not hold here": "#f0a29c",
    "not comparable here": "#f0d89d",
    "not run": "#eaecf0",
}
SYMBOLS = {
    "reproduced": "✓",
    "not reproduced": "✗",
    "undecided": "?",
    "cannot hold": "∅",
    "contradicts itself": "⇄",
    "held at laptop scale": "▲",
    "did not hold at laptop scale": "▼",
    "undecided at laptop scale": "◆",
    "held here": "+",
    "did not hold here": "−",
    "not comparable here": "~",
    "not run": "·",
}
DARK = ("reproduced", "not reproduced", "undecided", "cannot hold", "contradicts itself")  # with a white symbol
MET = ["match", "within tolerance"]
PER_LINE = 10  # tiles; an item with more claims continues on the next line


def draw_verdicts(claims: pd.DataFrame, comparison: pd.DataFrame, items: Register, *, scale: str) -> Figure:
    """`scale` is named in the legend, which holds the verdicts that occur."""
    figure, axes = style.new_figure(1, len(PAPERS), height=4.3)
    lines: list[int] = []
    for axis, (paper, title) in zip(axes, PAPERS.items(), strict=True):
        measured = comparison[(comparison["paper"] == paper) & (comparison["what"] == "measurement")]
        met, judged = measured["verdict"].isin(MET).sum(), measured["verdict"].isin([*MET, "differs"]).sum()
        said = f"{met} of {judged} measurements met" if judged else "no comparable number"
        heading = textwrap.fill(title, 24, break_on_hyphens=False) + f"\n{said}"
        axis.set_title(heading, fontsize=6.5, loc="left", x=-0.45)
        lines.append(draw_paper(axis, claims[claims["paper"] == paper], items.names(paper)))
    for axis in axes:
        axis.set_ylim(max(lines) - 0.4, -0.6)
    counts = claims["verdict"].value_counts()
    handles = [Patch(color=COLOURS[name], label=f"{name} ({counts[name]})") for name in COLOURS if name in counts]
    title = f"one tile per claim, {scale} configuration"
    figure.legend(
        handles=handles,
        handler_map={Patch: TileHandler()},
        loc="outside lower center",
        ncols=4,
        title=title,
        title_fontsize=7,
        handlelength=1.3,
        handleheight=1.1,
    )
    return figure


class TileHandler(HandlerPatch):
    """The tile of a verdict in the legend, with its symbol."""

    def create_artists(self, legend, handle, x, y, width, height, size, transform):
        tile = super().create_artists(legend, handle, x, y, width, height, size, transform)
        verdict = handle.get_label().rpartition(" (")[0]
        middle = (width - x) / 2, (height - y) / 2
        return [*tile, Text(*middle, SYMBOLS[verdict], transform=transform, **symbol_look(verdict))]


def symbol_look(verdict: str) -> dict:
    ink = "white" if verdict in DARK else style.BLACK
    return {"color": ink, "ha": "center", "va": "center_baseline", "fontsize": 6}


def draw_paper(axis: Axes, claims: pd.DataFrame, items: list[str]) -> int:
    """One line of tiles per item, in the order of items.tsv, the best verdicts first; how many lines that took."""
    order = list(COLOURS)
    ticks, line = {}, 0
    for item in items:
        verdicts = sorted(claims.loc[claims["item"] == item, "verdict"], key=order.index)
        ticks[item] = line
        for position, verdict in enumerate(verdicts):
            corner = position % PER_LINE + 0.06, line + position // PER_LINE - 0.42
            axis.add_patch(Rectangle(corner, 0.88, 0.84, color=COLOURS[verdict], linewidth=0))
            axis.text(corner[0] + 0.44, corner[1] + 0.42, SYMBOLS[verdict], **symbol_look(verdict))
        line += max(1, -(-len(verdicts) // PER_LINE))
    axis.set_yticks(list(ticks.values()), [name.replace("_", " ") for name in ticks], fontsize=6)
    axis.set(xlim=(0, PER_LINE), xticks=[])
    axis.tick_params(length=0)
    for side in axis.spines.values():
        side.set_visible(False)
    return line
