"""Rule table_complexity: parameters and FLOPs of the six variants, counted on the built models (S Table 1)."""

import pandas as pd

from clusterlens import job
from clusterlens.data.formats import write_csv
from clusterlens.metrics.complexity import complexity, in_words
from clusterlens.metrics.numbers import cells, tidy
from clusterlens.models.image_models import build
from clusterlens.models.variants import VARIANTS


def main(smk):
    architecture = smk.params.architecture
    rows = []
    for run, name in VARIANTS.items():
        parameters, macs = complexity(build(run, architecture), architecture["image_size"])
        rows.append((name, in_words(parameters), in_words(macs), parameters, macs))
    columns = ["Model Variant", "Parameters", "FLOPs", "Parameters (exact)", "MACs (exact)"]
    table = pd.DataFrame(rows, columns=columns)
    write_csv(smk.output.table, table)
    write_csv(smk.output.numbers, tidy(cells(table)))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
