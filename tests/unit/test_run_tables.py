"""Tables over runs, and head correlations, against slow and obvious versions."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch

from clusterlens.figures.heads import plot_heads, plot_membrane
from clusterlens.figures.training import plot_curves
from clusterlens.metrics.correlation import HeadCorrelation
from clusterlens.metrics.numbers import tidy
from clusterlens.metrics.runs import best_epochs, final_epoch, read_runs, variants_table
from clusterlens.models.variants import LEARNED, VARIANTS
from clusterlens.training.numbers import curve_numbers, head_numbers, membrane_numbers
from reference.heads import mean_correlation


def metrics(run: str, seed: int, top1: list[float]) -> pd.DataFrame:
    count = len(top1)
    return pd.DataFrame(
        {
            "epoch": range(1, count + 1),
            "train_loss": [2.0 - 0.1 * index for index in range(count)],
            "val_loss": [1.5, 0.9, 1.2, 1.4][:count],
            "top1": top1,
            "top5": [60.0, 75.0, 90.0, 80.0][:count],
            "seconds": [900.0] * count,
            "run": run,
            "seed": seed,
        }
    )


def test_best_is_taken_column_by_column():
    table = best_epochs(metrics("vit", 0, [10.0, 40.0, 50.0, 45.0])).loc[("vit", 0)]
    assert table["Train Loss"] == pytest.approx(1.7)  # epoch 4
    assert table["Val Loss"] == 0.9  # epoch 2
    assert table["Top-1 (%)"] == 50.0  # epoch 3
    assert table["Top-5 (%)"] == 90.0  # epoch 3
    assert (table["Epoch of best Top-1"], table["Val Loss in that epoch"]) == (3, 1.2)


def test_final_is_the_last_epoch_with_the_hours_of_all():
    shuffled = metrics("vit", 0, [10.0, 40.0, 50.0, 45.0]).sample(frac=1, random_state=0)
    table = final_epoch(shuffled).loc[("vit", 0)]
    assert (table["Top-1 (%)"], table["Val Loss"], table["Hours"]) == (45.0, 1.4, 1.0)


def test_spread_is_shown_only_for_several_seeds():
    one, two = metrics("vit", 0, [10.0, 40.0]), metrics("vit", 1, [10.0, 50.0])
    single = variants_table(final_epoch(one), {"vit": "Baseline ViT"})
    assert "Top-1 (%) ±" not in single and single["Top-1 (%)"].item() == 40.0
    both = variants_table(final_epoch(pd.concat([one, two], ignore_index=True)), {"vit": "Baseline ViT"})
    assert both["Top-1 (%)"].item() == 45.0
    assert both["Top-1 (%) ±"].item() == pytest.approx(np.std([40, 50], ddof=1), abs=0.01)
    assert both.columns[0] == "Model"


def test_runs_are_read_side_by_side(tmp_path):
    metrics("x", 0, [1.0]).drop(columns=["run", "seed"]).to_csv(tmp_path / "a.csv", index=False)
    table = read_runs([tmp_path / "a.csv"] * 2, ["vit", "spikformer"], [0, 1])
    assert list(zip(table["run"], table["seed"], strict=True)) == [("vit", 0), ("spikformer", 1)]


def test_curve_numbers_measure_drops():
    table = pd.concat([metrics("vit", 0, [10.0, 40.0, 30.0, 50.0]), metrics("spikformer", 0, [10.0, 20.0, 30.0, 40.0])])
    found = tidy(curve_numbers(table, "fig3")).set_index(["row", "column"])["value"]
    assert found["Baseline ViT", "volatility"] == 10.0
    assert found["Baseline Spikformer", "volatility"] == 0.0
    assert found["Baseline ViT", "best accuracy"] == 50.0
    assert found["Baseline ViT", "epochs to 90 %"] == 4


def test_head_correlation_is_numpys_streamed():
    torch.manual_seed(0)
    maps = torch.rand(7, 4, 5, 5, dtype=torch.float64)
    maps[:, 2] = 2 * maps[:, 1] + 1  # perfectly correlated
    maps[3, 0] = 0.25  # one silent map
    measure = HeadCorrelation(4)
    for part in maps.split([1, 4, 2]):
        measure.add(part)
    wanted = mean_correlation(maps.numpy())
    np.testing.assert_allclose(measure.mean().numpy(), wanted, rtol=1e-10)
    np.testing.assert_allclose(measure.mean()[1, 2], 1.0)
    assert measure.off_diagonal() == pytest.approx(wanted[~np.eye(4, dtype=bool)].mean())
    assert measure.silent_share() == pytest.approx(1 / 28)


def test_heads_that_are_always_silent_are_left_out():
    maps = torch.rand(3, 3, 4, 4)
    maps[:, 1] = 0
    measure = HeadCorrelation(3)
    measure.add(maps)
    assert torch.isnan(measure.mean()[1]).all()
    assert measure.off_diagonal() == pytest.approx(float(measure.mean()[0, 2]))
    measure = HeadCorrelation(2)
    measure.add(torch.full((2, 2, 4, 4), 0.3))
    assert np.isnan(measure.off_diagonal())
    assert measure.silent_share() == 1


def test_head_numbers_name_layers_and_ablations():
    rows = [
        {"run": run, "seed": seed, "layer": layer, "mean_correlation": base + 0.1 * layer, "silent_share": 0.0}
        for run, base in (("spikformer", 0.1), ("spikformer_no_mlp", 0.3), ("spikformer_no_skip", 0.0))
        for seed in (0, 1)
        for layer in (1, 2)
    ]
    found = tidy(head_numbers(pd.DataFrame(rows), "fig2")).set_index(["row", "column"])["value"]
    assert found["layer 2", "mean correlation"] == pytest.approx(0.3)
    assert found["no MLP", "change"] == pytest.approx(0.2)
    assert found["no skip", "change"] == pytest.approx(0.1)


def test_figures_draw_silent_layers_and_single_seeds():
    values = {1: 0.4, 2: np.nan}
    layers = pd.DataFrame(
        [(run, 0, layer, value, layer - 1.0) for run in [*VARIANTS, LEARNED] for layer, value in values.items()],
        columns=["run", "seed", "layer", "mean_correlation", "silent_share"],
    )
    pairs = pd.DataFrame(
        [("spikformer", 0, layer, a, b, value) for layer, value in values.items() for a in (1, 2) for b in (1, 2)],
        columns=["run", "seed", "layer", "head", "other", "correlation"],
    )
    figure = plot_heads(pairs, layers, "fig2", [1, 2])
    assert [axis.get_title() for axis in figure.axes[:2]] == ["(a) Spikformer, layer 1", "(b) Spikformer, layer 2"]
    assert len(figure.axes[0].images[0].get_array()) == 2
    constants = pd.DataFrame(
        {"run": LEARNED, "seed": 0, "layer": [0, 1], "neuron": "attention.neuron", "tau": [2.0, 1.5]}
    )
    particles = pd.DataFrame(
        {
            "system": "fixed",
            "steepness": 2.0,
            "seed": 0,
            "time": [0.0, 1.0],
            "mean_cosine": [0.0, 1.0],
            "clusters": [9, 1],
        }
    )
    assert len(plot_membrane(layers, constants, particles, 2.0).axes) == 3
    final = final_epoch(
        pd.concat([metrics("spikformer", 0, [1.0, 2.0]), metrics(LEARNED, 0, [1.0, 4.0])], ignore_index=True)
    )
    rows = membrane_numbers(layers[layers["layer"] == 1], final, particles, constants)
    found = tidy(rows).set_index(["row", "column"])["value"]
    assert found["learned", "Top-1 (%)"] == 4.0
    assert found["change", "last layer correlation"] == 0.0
    assert found["particles fixed", "clusters"] == 1
    curves = pd.concat([metrics("vit", 0, [10.0, 20.0]), metrics("spikformer", 0, [10.0, 20.0])], ignore_index=True)
    assert len(plot_curves(curves, "fig3").axes) == 2
    plt.close("all")
