"""Rule verify_numbers: every published number beside ours, with a verdict."""

from clusterlens import job
from clusterlens.data.formats import write_csv
from clusterlens.items import read_items
from clusterlens.logs import log
from clusterlens.verify.compare import VERDICTS, compare_all
from clusterlens.verify.published import read_published
from clusterlens.verify.results import read_results


def main(smk):
    results = read_results(smk.input.manifests, read_items())
    table = compare_all(read_published(), results)
    write_csv(smk.output.table, table)
    counts = {verdict: int((table["verdict"] == verdict).sum()) for verdict in VERDICTS}
    log.info("%d published numbers: %s", len(table), ", ".join(f"{count} {name}" for name, count in counts.items()))
    return {"verdicts": counts}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
