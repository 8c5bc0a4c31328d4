"""Rule verify_claims: every claim of the papers with a verdict."""

import pandas as pd

from clusterlens import job
from clusterlens.data.formats import write_csv
from clusterlens.items import read_items
from clusterlens.logs import log
from clusterlens.verify.claims import VERDICTS, judge_all
from clusterlens.verify.published import read_claims
from clusterlens.verify.results import read_results


def main(smk):
    results = read_results(smk.input.manifests, read_items())
    comparison = pd.read_csv(smk.input.comparison, dtype=str, keep_default_na=False)
    table = judge_all(read_claims(), results, comparison, smk.params.label)
    write_csv(smk.output.table, table)
    counts = {verdict: int((table["verdict"] == verdict).sum()) for verdict in VERDICTS}
    log.info("%d claims: %s", len(table), ", ".join(f"{count} {name}" for name, count in counts.items()))
    return {"verdicts": counts}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
