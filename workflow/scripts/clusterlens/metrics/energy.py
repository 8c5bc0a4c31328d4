"""Energy of one image, as the spiking literature counts it: from operations and what one of them costs."""

import pandas as pd

# Picojoule per operation on 32 bit floating point numbers, 45 nm (Horowitz 2014).
MULTIPLY_ADD, ADDITION = 4.6, 0.9


def energy_table(operations: pd.DataFrame) -> pd.DataFrame:
    """One row per run and seed, from operations per image; ratios are to ViT with the same seed.

    E = 4.6 pJ · multiply-adds + .9 pJ · additions.
    """
    found = operations.set_index(["run", "seed"])
    energy = (MULTIPLY_ADD * found["multiply_adds"] + ADDITION * found["additions"]) / 1e6
    fed_by_spikes = found["macs"] - found["multiply_adds"]
    table = pd.DataFrame(
        {
            "MACs": found["macs"],
            "Multiply-adds": found["multiply_adds"],
            "Additions": found["additions"],
            "Spikes per input": (found["additions"] / fed_by_spikes).where(fed_by_spikes > 0),
            "Energy (µJ)": energy,
        }
    )
    for column, ratio in (("MACs", "MACs over ViT"), ("Energy (µJ)", "Energy over ViT")):
        table[ratio] = table[column].div(table[column].xs("vit"), level="seed")
    return table
