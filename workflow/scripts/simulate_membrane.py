"""Rule simulate_membrane: spiking attention of particles at the membrane constants that training found (S aim 2)."""

import numpy as np
import pandas as pd

from clusterlens import job
from clusterlens.data.formats import write_csv
from clusterlens.metrics.order import count, direction_labels, mean_cosine
from clusterlens.models.variants import LEARNED
from clusterlens.particles.settings import Settings
from clusterlens.particles.simulate import simulate

SHARED = ("tokens", "dimension", "beta", "step", "time", "start", "seeds")  # settings taken over from S Fig. 1


def main(smk):
    constants = pd.read_csv(smk.input.constants)
    attention = constants[(constants["run"] == LEARNED) & (constants["neuron"] == "attention.neuron")]
    learned = attention.groupby("layer")["tau"].mean()
    # S uses one letter for both: tau of the neuron is taken as the steepness tau of Eq. 9.
    steepness = {"fixed": smk.params.fixed} | {f"layer {layer}": float(tau) for layer, tau in learned.items()}
    shared = {key: smk.params.simulation[key] for key in SHARED}
    settings = Settings(field="ssa_soft", steepness=tuple(steepness.values()), threshold=smk.params.threshold, **shared)
    trajectory = simulate(settings, every=5)
    rows, names, seeds = [], list(steepness), len(settings.seeds)
    positions = trajectory.positions.cpu().numpy()  # (times, systems, tokens, 3)
    for time, frame in zip(trajectory.times, positions, strict=True):
        cosine = mean_cosine(frame)
        clusters = count(direction_labels(frame))
        for index, (_, tau, seed) in enumerate(settings.systems):
            name = names[index // seeds]
            rows.append(
                (name, tau, seed, round(float(time), 6), float(cosine[index]), int(np.asarray(clusters)[index]))
            )
    columns = ["system", "steepness", "seed", "time", "mean_cosine", "clusters"]
    write_csv(smk.output.points, pd.DataFrame(rows, columns=columns))
    return {"seeds": list(settings.seeds)}


if "snakemake" in globals():
    job.run(main, snakemake)  # noqa: F821
