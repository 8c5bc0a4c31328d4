"""Rule prepare_documents: the first documents of a corpus that are long enough."""

from itertools import islice

from clusterlens import job
from clusterlens.data.facts import facts_of
from clusterlens.data.registry import raw_files
from clusterlens.data.text import long_enough, read_documents, write_documents
from clusterlens.errors import UserError


def main(smk):
    wanted, min_words = smk.params.documents, smk.params.min_words
    [file] = raw_files(smk.input.raw_manifest, smk.params.entry)
    texts = list(islice(long_enough(read_documents(file), min_words), wanted))
    if len(texts) < wanted:
        name = smk.wildcards.dataset
        raise UserError(
            f"{smk.params.entry['title']}: {wanted} documents are asked for, but only {len(texts)} have at least"
            f" {min_words} words; lower data/{name}/documents or data/{name}/min_words"
        )
    write_documents(smk.output.documents, texts)
    return facts_of(smk.params.entry, {"documents": len(texts)}, smk.input.raw_manifest, smk.params.changed)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
