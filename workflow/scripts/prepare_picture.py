"""Rule prepare_picture: the picture and its mask at the size that the paper works on (A, data set A)."""

from clusterlens import job
from clusterlens.data import formats, pictures
from clusterlens.data.facts import facts_of
from clusterlens.data.registry import raw_files


def main(smk):
    picture, mask = raw_files(smk.input.raw_manifest, smk.params.entry)
    image, inside = pictures.prepare(picture, mask, smk.params.size)
    formats.write_arrays(smk.output.picture, {"image": image, "mask": inside})
    counts = {"pixels": inside.size, "inside": int(inside.sum())}
    return facts_of(smk.params.entry, counts, smk.input.raw_manifest, smk.params.changed)


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
