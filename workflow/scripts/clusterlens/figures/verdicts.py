"""All claims in one picture: a tile per claim, a line per item, a panel per paper."""

import textwrap

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from clusterlens.figures import style
from clusterlens.items import PAPERS, Register

COLOURS = {
    "reproduced": style.GREEN,
    "not reproduced": style.RED,
    "cannot hold": style.PURPLE,
    "needs paper scale": "#f2c14e",
    "not run": "#dfe2e6",
}
MET = ["match", "within tolerance"]
PER_LINE = 10  # tiles; an item with more claims goes on in the next line


def draw_verdicts(claims: pd.DataFrame, comparison: pd.DataFrame, items: Register, *, scale: str) -> Figure:
    """`scale` is named in the legend."""
    figure, axes = style.new_figure(1, len(PAPERS), height=3.9)
    for axis, (paper, title) in zip(axes, PAPERS.items(), strict=True):
        numbers = comparison[comparison["paper"] == paper]
        met, judged = numbers["verdict"].isin(MET).sum(), numbers["verdict"].isin([*MET, "differs"]).sum()
        heading = textwrap.fill(title, 24, break_on_hyphens=False) + f"\n{met} of {judged} judged numbers met"
        axis.set_title(heading, fontsize=6.5, loc="left", x=-0.45)
        draw_paper(axis, claims[claims["paper"] == paper], items.names(paper))
    counts = claims["verdict"].value_counts()
    handles = [Patch(color=colour, label=f"{name} ({counts.get(name, 0)})") for name, colour in COLOURS.items()]
    title = f"one tile per claim, {scale} configuration"
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), title=title, title_fontsize=7)
    return figure


def draw_paper(axis: Axes, claims: pd.DataFrame, items: list[str]) -> None:
    """One line of tiles per item, in the order of items.tsv, the best verdicts first."""
    order = list(COLOURS)
    ticks, line = {}, 0
    for item in items:
        verdicts = sorted(claims.loc[claims["item"] == item, "verdict"], key=order.index)
        ticks[item] = line
        for position, verdict in enumerate(verdicts):
            corner = position % PER_LINE + 0.06, line + position // PER_LINE - 0.42
            axis.add_patch(Rectangle(corner, 0.88, 0.84, color=COLOURS[verdict], linewidth=0))
        line += max(1, -(-len(verdicts) // PER_LINE))
    axis.set_yticks(list(ticks.values()), [name.replace("_", " ") for name in ticks], fontsize=6)
    axis.set(xlim=(0, PER_LINE), ylim=(22, -0.6), xticks=[])
    axis.tick_params(length=0)
    for side in axis.spines.values():
        side.set_visible(False)
