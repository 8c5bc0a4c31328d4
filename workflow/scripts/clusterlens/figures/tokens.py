"""How alike tokens become with depth, beside the correlation of heads: all variants, trained and untrained."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.heads import COLOURS, FAMILIES, draw_depth, keep_within_one
from clusterlens.models.variants import NAMES

# Column: (its label, the column that says whether some were silent).
PANELS = {
    "mean_cosine": ("mean cosine of tokens", "silent_tokens"),
    "effective_rank": ("effective rank of tokens", "silent_tokens"),
    "mean_correlation": ("mean correlation of heads", "silent_share"),
}


def plot_tokens(tokens: pd.DataFrame) -> Figure:
    """A row for each architecture; the untrained models as dashed lines."""
    figure, axes = style.new_figure(2, len(PANELS), height=4.6, sharex=True, sharey="col")
    for row, (family, title) in enumerate(FAMILIES.items()):
        names = {run: name for run, name in NAMES.items() if run.split("_")[0] == family}
        for place, (column, (label, silent)) in enumerate(PANELS.items()):
            axis = axes[row * len(PANELS) + place]
            bounds = (1, np.inf) if column == "effective_rank" else (-1, 1)
            look: dict[str, Any] = {"column": column, "silent": silent, "bounds": bounds}
            for state, dashed in (("untrained", True), ("trained", False)):
                chosen = tokens[tokens["state"] == state]
                labels = names if not dashed else dict.fromkeys(names, "_untrained")
                draw_depth(axis, chosen, labels, COLOURS, dashed=dashed, **look)
            axis.set_title(title)
            axis.set_ylabel(label)
            axis.set_xlabel("layer (0: patches)" if row else "")
            if column != "effective_rank":
                keep_within_one(axis)
        axis.plot([], [], color=style.GREY, linestyle="--", linewidth=1.0, label="untrained")
        axis.plot([], [], "o", color=style.GREY, markerfacecolor="white", label="some silent")
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    style.letter(axes)
    return figure
