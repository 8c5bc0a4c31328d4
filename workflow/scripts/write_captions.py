"""Rule write_captions: what the report says below each item, with the verdicts on its claims."""

from pathlib import Path

import pandas as pd

from clusterlens import job
from clusterlens.files import read_json, write_text
from clusterlens.verify.captions import compose


def main(smk):
    claims = pd.read_csv(smk.input.claims, dtype=str, keep_default_na=False)
    for text, manifest, caption in zip(smk.input.texts, smk.input.manifests, smk.output.captions, strict=True):
        paper, item = Path(text).parent.name, Path(text).stem
        facts = read_json(manifest)
        of_item = claims[(claims["paper"] == paper) & (claims["item"] == item)]
        stand_ins = [entry["label"] for entry in facts["stand_ins"]]
        write_text(caption, compose(Path(text).read_text(encoding="utf-8"), of_item, stand_ins, facts["scale"]))


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
