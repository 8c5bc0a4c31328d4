"""Rule prepare_text: the lines of a corpus that are not blank, by split."""

from clusterlens import job
from clusterlens.data.facts import facts_of
from clusterlens.data.registry import raw_files
from clusterlens.data.text import read_lines, write_documents
from clusterlens.provenance import REAL, stand_in


def main(smk):
    counts, unknown = {}, False
    files = raw_files(smk.input.raw_manifest, smk.params.entry)
    for split, file in zip(("train", "valid", "test"), files, strict=True):
        lines = read_lines(file)
        counts[split] = len(lines)
        unknown = unknown or any("<unk>" in line for line in lines)
        write_documents(smk.output[split], (line for line in lines if line.strip()))
    facts = facts_of(smk.params.entry, counts, smk.input.raw_manifest)
    if unknown:
        label = f"word-tokenised text with <unk> for {smk.params.entry['title']}"
        facts["stand_ins"] = [*facts["stand_ins"], stand_in(smk.wildcards.dataset, label, REAL)]
    return facts


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
