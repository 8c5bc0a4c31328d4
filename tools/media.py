"""The opening of the README: tokens that cluster, as an endless film, and the verdicts of the published evidence."""

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
from clusterlens.files import write_text
from clusterlens.particles.record import record
from clusterlens.schema import read_yaml

ROOT = Path(__file__).resolve().parent.parent
EVIDENCE, MINI, PICTURE = Path("docs/evidence"), Path("results/mini"), Path("docs/verdicts.png")
ALT = "Verdicts on the claims of the four works"
MORE = f" [The evidence]({EVIDENCE}/README.md) holds every claim and number."
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


def rewrite_verdicts(readme: Path, root: Path = ROOT) -> None:
    """Sentence and picture from the published evidence or, before there is any, from the claims of `results/mini`."""
    if (root / EVIDENCE / "claims.csv").is_file():
        (root / PICTURE).unlink(missing_ok=True)
    elif (root / MINI / "verdicts.png").is_file():
        shutil.copyfile(root / MINI / "verdicts.png", root / PICTURE)
    write_text(readme, with_verdicts(readme.read_text(encoding="utf-8"), root))


def with_verdicts(readme: str, root: Path = ROOT) -> str:
    """The README's text with the sentence and the picture of today; as it is where no claim has been judged."""
    if (root / EVIDENCE / "claims.csv").is_file():
        text, picture = told(root / EVIDENCE, "make laptop") + MORE, EVIDENCE / "verdicts.png"
    elif (root / MINI / "claims.csv").is_file():
        text, picture = told(root / MINI, "make mini"), PICTURE
    else:
        return readme
    before, rest = readme.split(VERDICTS)
    shown = f"{textwrap.fill(text, 120, break_on_hyphens=False)}\n\n![{ALT}]({picture})\n\n"
    return f"{before}{VERDICTS}\n{shown}{END}{rest.split(END, 1)[1]}"


def told(folder: Path, command: str) -> str:
    return sentence(Counter(pd.read_csv(folder / "claims.csv")["verdict"]), command)


def sentence(found: Counter, command: str) -> str:
    """All claims by verdict: on the papers' own terms, at laptop scale, and on stand-ins."""
    impossible = found["cannot hold"] + found["contradicts itself"]
    real = sum(found[name] for name in ("reproduced", "not reproduced", "undecided")) + impossible
    held, failed, open_ = (found[f"{word} at laptop scale"] for word in ("held", "did not hold", "undecided"))
    laptop = held + failed + open_
    whole = ", and data that it had in full" if laptop else ""
    text = (
        f"Without a GPU, our run of `{command}` judged {real} of {found.total()} claims on the papers' own terms, "
        f"those about simulations at full scale, settings, algebra and arithmetic{whole}: **{found['reproduced']} are "
        f"reproduced, {found['not reproduced']} are not, {impossible} cannot hold or contradict themselves, "
        f"{found['undecided']} are undecided** over their seeds."
    )
    if laptop:
        text += (
            f" {laptop} more were judged on real data at a scale that a laptop can do, which is not the papers': "
            f"**{held} held, {failed} did not, {open_} are undecided**."
        )
    rest = found.total() - real - laptop
    if rest:
        text += (
            f" The other {rest} need training, data or checkpoints that it did not have: on stand-ins or at a smaller "
            f"scale, which says nothing about the papers, {found['held here']} held, {found['did not hold here']} did "
            f"not, {found['not comparable here']} are not comparable"
        )
        text += f"; {found['not run']} were not run." if found["not run"] else "."
    return text
