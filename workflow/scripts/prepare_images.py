"""Rule prepare_images: labelled images as uint8 arrays."""

from clusterlens import job
from clusterlens.data import cifar, formats
from clusterlens.data.facts import facts_of
from clusterlens.data.registry import raw_files


def main(smk):
    [file] = raw_files(smk.input.raw_manifest, smk.params.entry)
    arrays = formats.read_images(file) if file.suffix == ".npz" else cifar.read_archive(file)
    formats.write_arrays(smk.output.images, arrays)
    counts = {"train": len(arrays["train_x"]), "test": len(arrays["test_x"])}
    return facts_of(smk.params.entry, counts, smk.input.raw_manifest)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
