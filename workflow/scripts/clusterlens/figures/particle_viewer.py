"""A page of its own for a 3-D run: turn it by hand, play it, no network needed."""

import html
import json

import numpy as np

from clusterlens.figures.particle_data import Run
from clusterlens.figures.particle_panels import without_growth

STATES = 151  # states kept of each run at most


def view(run: Run, name: str, *, first: bool) -> dict:
    """One run as the page wants it: places in thousandths of the frame, so that the file stays small."""
    field = run.settings["field"]
    sphere = not field.startswith(("free", "rescaled"))
    path = without_growth(run.path) if field.startswith("free") else run.path
    kept = np.unique(np.linspace(0, len(path) - 1, min(STATES, len(path))).round().astype(int))
    if not sphere:
        middle = (path.max((0, 1)) + path.min((0, 1))) / 2
        path = (path - middle) / np.abs(path - middle).max()
    places = np.rint(path[kept] * 1000).astype(int)
    return {
        "name": name,
        "sphere": sphere,
        "first": first,
        "times": [round(float(t), 3) for t in run.times[kept]],
        "places": places.reshape(len(kept), -1).tolist(),
    }


def page(template: str, title: str, views: list[dict]) -> str:
    """The whole HTML file: the template with its title and data put in."""
    data = json.dumps(views, separators=(",", ":")).replace("<", "\\u003c")
    return template.replace("@TITLE@", html.escape(title)).replace("@DATA@", data)
