"""Rule prepare_labelled_text: texts with a label of 0 or 1, to learn from and to test on."""

from clusterlens import job
from clusterlens.data.facts import facts_of
from clusterlens.data.formats import write_jsonl
from clusterlens.data.registry import raw_files
from clusterlens.data.text import read_labelled


def main(smk):
    counts = {}
    for split, file in zip(("train", "test"), raw_files(smk.input.raw_manifest, smk.params.entry), strict=True):
        pairs = read_labelled(file)
        counts[split] = len(pairs)
        write_jsonl(smk.output[split], ({"text": text, "label": label} for text, label in pairs))
    return facts_of(smk.params.entry, counts, smk.input.raw_manifest)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
