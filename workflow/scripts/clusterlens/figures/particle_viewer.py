"""A page of its own for a 3-D run: turn it by hand, play it, no network needed."""

import html
import json
from pathlib import Path

import numpy as np

from clusterlens.figures.particle_panels import FilmPanel, shown_path
from clusterlens.particles.runs import Run

TEMPLATE = "particle_viewer.html"
STATES = 151  # states kept of each run at most


def view(run: Run, panel: FilmPanel) -> dict:
    """One run as the page wants it: places in thousandths of the frame, so that the file stays small."""
    path = shown_path(run)
    kept = np.unique(np.linspace(0, len(path) - 1, min(STATES, len(path))).round().astype(int))
    if not run.on_sphere:
        middle = (path.max((0, 1)) + path.min((0, 1))) / 2
        path = (path - middle) / np.abs(path - middle).max()
    places = np.rint(path[kept] * 1000).astype(int)
    return {
        "name": panel.title,
        "sphere": run.on_sphere,
        "first": panel.first,
        "times": [round(float(t), 3) for t in run.times[kept]],
        "places": places.reshape(len(kept), -1).tolist(),
    }


def page(title: str, runs: list[Run], film: tuple[FilmPanel, ...]) -> str:
    """The whole HTML file: the template with its title and, as data, the runs of the film that are 3-D."""
    views = [view(runs[panel.index], panel) for panel in film if runs[panel.index].path.shape[2] == 3]
    data = json.dumps(views, separators=(",", ":")).replace("<", "\\u003c")
    template = Path(__file__).with_name(TEMPLATE).read_text(encoding="utf-8")
    return template.replace("@TITLE@", html.escape(title)).replace("@DATA@", data)
