"""The end of every figure's job: the stand-ins noted below it, the drawing, its points and its numbers."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.data.formats import write_csv
from clusterlens.figures import style
from clusterlens.metrics.numbers import tidy
from clusterlens.provenance import labels


def finish(smk, figure: Figure, points: pd.DataFrame, numbers: list[dict]) -> None:
    """Write `png`, `pdf`, `points` and `numbers` among the job's outputs."""
    stand_ins = labels(smk.input)
    if stand_ins:
        style.note(figure, f"not the paper's data: {'; '.join(stand_ins)}")
    style.save(figure, smk.output.png, smk.output.pdf)
    write_csv(smk.output.points, points)
    write_csv(smk.output.numbers, tidy(numbers))
