"""Rule prepare_table: the chosen columns of a table, whole and as a sample (A, data sets B and C)."""

from clusterlens import job
from clusterlens.data.facts import facts_of
from clusterlens.data.formats import write_csv
from clusterlens.data.registry import raw_files
from clusterlens.data.tables import class_sizes, draw_sample, read_table, select
from clusterlens.logs import log


def main(smk):
    settings = smk.params.settings
    label, per_class = settings["label"], settings["samples_per_class"]
    [file] = raw_files(smk.input.raw_manifest, smk.params.entry)
    table = select(read_table(file), settings["features"], label, smk.params.entry["title"])
    sample = draw_sample(table, label, per_class, settings["seed"])
    by_class = {str(value): int(count) for value, count in sample[label].value_counts().sort_index().items()}
    if any(there < asked for there, asked in zip(by_class.values(), class_sizes(per_class), strict=True)):
        log.warning("%s rows of each class asked for, %s are there", per_class, by_class)
    write_csv(smk.output.table, table)
    write_csv(smk.output.sample, sample)
    facts = facts_of(smk.params.entry, {"rows": len(table)}, smk.input.raw_manifest, smk.params.changed)
    return facts | {"sample": by_class, "seeds": [settings["seed"]], "features": settings["features"], "label": label}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
