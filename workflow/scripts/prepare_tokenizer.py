"""Rule prepare_tokenizer: RoBERTa's tokenizer from its published files, or one of our own learnt from WikiText-2."""

from pathlib import Path

from clusterlens import job
from clusterlens.data.facts import facts_of
from clusterlens.data.registry import raw_files
from clusterlens.data.text import read_documents
from clusterlens.data.tokenizer import read_published, train_tokenizer, write_tokenizer


def main(smk):
    if hasattr(smk.input, "raw_manifest"):
        tokenizer = read_published(*raw_files(smk.input.raw_manifest, smk.params.entry))
        facts = facts_of(smk.params.entry, {}, smk.input.raw_manifest)
    else:
        tokenizer = train_tokenizer(read_documents(Path(smk.input.text)), smk.params.vocabulary)
        facts = {}
    write_tokenizer(smk.output.tokenizer, tokenizer)
    return facts | {"vocabulary": tokenizer.get_vocab_size()}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
