"""Rule simulate_heads: tokens under trained heads, at full width (E) or under the leading eigenvalues of one (T)."""

import numpy as np
import torch

from clusterlens import devices, job
from clusterlens.particles import runs
from clusterlens.particles.record import record
from clusterlens.probing.heads import Heads, leading, value_eigenvalues
from clusterlens.probing.measure import RANDOM, TRAINED, flow_run

DIMENSION = 3
MEASURES = ["clusters", "first_alignment", "first_to_others", "received_by_first", "received_by_median"]


def particles(heads: Heads, settings: dict, *, dtype: str, device: torch.device) -> list[runs.Run]:
    """T Figs. 7 and 8: V is diagonal, with the three leading eigenvalues of one head."""
    # Deviation: T does not say which eigenvalues of which head are the top three: the real parts of the largest ones in
    # magnitude, of the head whose number E prints. A head that is narrower than that has zeros beyond its own.
    found = leading(value_eigenvalues(heads)[0], DIMENSION)
    value = {"kind": "diagonal", "entries": np.pad(found, (0, DIMENSION - len(found))).tolist()}
    block = settings | {"field": "causal", "dimension": DIMENSION, "value": value, "measures": MEASURES}
    return record(block, dtype=dtype, device=device)


def flows(heads: Heads, settings: dict, *, head: int | None) -> list[runs.Run]:
    """E's slides: the flow at full width, and under Gaussian heads of the same size where `control` asks for it."""
    found = [flow_run(heads, settings, label=TRAINED, head=head)]
    if settings["control"]:
        found.append(flow_run(heads.like(seed=0), settings, label=RANDOM, head=head))
    return found


def main(smk):
    torch.set_num_threads(smk.threads)
    settings, device = dict(smk.params.settings), devices.pick(smk.params.device)
    heads = Heads.load(smk.input.heads, device=device)
    chosen = min(smk.params.head, len(heads) - 1)
    if smk.wildcards.paper == "transformers":
        found = particles(heads.only(chosen), settings, dtype=smk.params.dtype, device=device)
    elif settings.pop("heads") == "one":
        found = flows(heads.only(chosen), settings, head=chosen + 1)
    else:
        found = flows(heads, settings, head=None)
    runs.save(smk.output.arrays, found)
    return {"seeds": settings["seeds"], "device": device, "head": chosen + 1}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
