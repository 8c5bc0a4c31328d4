"""The opening of the README: tokens that cluster, as an endless film, and the verdicts of the last `make mini`."""

import shutil
import textwrap
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from clusterlens.figures import style
from clusterlens.figures.particle_animation import frames, write_gif
from clusterlens.figures.particle_panels import FilmPanel
from clusterlens.particles.record import record
from clusterlens.schema import read_yaml

ROOT = Path(__file__).resolve().parent.parent
MINI = ROOT / "results" / "mini"
VERDICTS, END = "<!-- verdicts, written by make docs -->\n", "<!-- end -->\n"
FRAMES, SIZE = 60, (960, 320)
HELD = 12  # frames at the end during which nothing moves, so that the outcome can be seen
SHOWN = {
    ("transformers", "fig3"): {"colour": style.BLUE, "title": "causal attention, β = 1", "first": True},
    ("transformers", "fig4"): {"colour": style.BLUE, "title": "β = 9", "first": True},
    ("emergence", "polytope"): {"colour": style.GREEN, "title": "V = I, rescaled", "hull": True},
}


def write_film(path: Path) -> None:
    """T 3, T 4 and E's polytope side by side, each with the paper's settings and its first seed."""
    simulated = read_yaml(ROOT / "config" / "config.yaml")["simulations"]
    runs = []
    for paper, item in SHOWN:
        block = {key: value for key, value in simulated[paper][item].items() if key != "variants"}
        runs += record(block | {"seeds": block["seeds"][:1]}, dtype="float64", device="cpu")
    film = tuple(FilmPanel(index, **look) for index, look in enumerate(SHOWN.values()))
    pictures = [np.asarray(Image.fromarray(picture).resize(SIZE)) for picture in frames(runs, film, FRAMES)]
    write_gif(path, pictures + pictures[-1:] * HELD)


def rewrite_verdicts(readme: Path, picture: Path) -> None:
    """Sentence and picture from the claims of `results/mini`, where they have been judged."""
    claims, drawn = MINI / "claims.csv", MINI / "verdicts.png"
    if claims.is_file() and drawn.is_file():
        before, rest = readme.read_text(encoding="utf-8").split(VERDICTS)
        text = textwrap.fill(sentence(Counter(pd.read_csv(claims)["verdict"])), 120)
        readme.write_text(f"{before}{VERDICTS}\n{text}\n\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")
        shutil.copyfile(drawn, picture)


def sentence(found: Counter) -> str:
    """All claims by verdict, those on stand-ins apart from the others."""
    impossible = found["cannot hold"] + found["contradicts itself"]
    real = sum(found[name] for name in ("reproduced", "not reproduced", "undecided")) + impossible
    on_stand_ins = found.total() - real
    return (
        f"Without a GPU, `make mini` judges {real} of {found.total()} claims on the papers' own terms, those about "
        f"simulations at full scale, settings, algebra and arithmetic: **{found['reproduced']} are reproduced, "
        f"{found['not reproduced']} are not, {impossible} cannot hold or contradict themselves, "
        f"{found['undecided']} are undecided** over their seeds. The other {on_stand_ins} need training or data "
        f"and are shown on stand-ins or at a smaller scale ({found['held here']} held, "
        f"{found['did not hold here']} did not, {found['not comparable here']} are not comparable), "
        "which says nothing about the papers."
    )
