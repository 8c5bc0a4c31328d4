"""Tables over runs, and head correlations, against slow and obvious versions."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch

from clusterlens.figures.heads import plot_heads, plot_membrane
from clusterlens.figures.tokens import plot_tokens
from clusterlens.figures.training import plot_curves
from clusterlens.metrics.correlation import HeadCorrelation
from clusterlens.metrics.energy import energy_table
from clusterlens.metrics.numbers import tidy
from clusterlens.metrics.runs import best_epochs, final_epoch, read_runs, variants_table
from clusterlens.models.variants import LEARNED, NAMES, VARIANTS
from clusterlens.training.numbers import curve_numbers, head_numbers, membrane_numbers, token_numbers
from clusterlens.verify.checks import Numbers, differs, positive
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


def as_numbers(rows: list[dict]) -> Numbers:
    """An item's numbers as the checks read them."""
    return Numbers(tidy(rows))


def test_best_is_taken_column_by_column():
    table = best_epochs(metrics("vit", 0, [10.0, 40.0, 50.0, 45.0])).loc[("vit", 0)]
    assert table["Train Loss"] == pytest.approx(1.7)  # epoch 4
    assert table["Val Loss"] == 0.9  # epoch 2
    assert table["Top-1 (%)"] == 50.0  # epoch 3
    assert table["Top-5 (%)"] == 90.0  # epoch 3
    assert (table["Epoch of best Top-1"], table["Val Loss in that epoch"]) == (3, 1.2)
    assert table["Best above final"] == 5.0
    steady = best_epochs(metrics("vit", 0, [10.0, 40.0, 50.0, 50.0])).loc[("vit", 0)]
    assert steady["Best above final"] == 0.0


def test_final_is_the_last_epoch_with_the_hours_of_all():
    shuffled = metrics("vit", 0, [10.0, 40.0, 50.0, 45.0]).sample(frac=1, random_state=0)
    table = final_epoch(shuffled).loc[("vit", 0)]
    assert (table["Top-1 (%)"], table["Val Loss"], table["Hours"]) == (45.0, 1.4, 1.0)


def test_an_interval_is_shown_only_for_several_seeds():
    one, two = metrics("vit", 0, [10.0, 40.0]), metrics("vit", 1, [10.0, 50.0])
    single = variants_table(final_epoch(one), {"vit": "Baseline ViT"})
    assert "Top-1 (%) ±95%" not in single and single["Top-1 (%)"].item() == 40.0
    both = variants_table(final_epoch(pd.concat([one, two], ignore_index=True)), {"vit": "Baseline ViT"})
    assert both["Top-1 (%)"].item() == 45.0
    assert both["Top-1 (%) ±95%"].item() == pytest.approx(12.706 * np.std([40, 50], ddof=1) / 2**0.5, abs=0.01)
    assert both.columns[0] == "Model"


def test_runs_are_read_side_by_side(tmp_path):
    metrics("x", 0, [1.0]).drop(columns=["run", "seed"]).to_csv(tmp_path / "a.csv", index=False)
    table = read_runs([tmp_path / "a.csv"] * 2, ["vit", "spikformer"], [0, 1])
    assert list(zip(table["run"], table["seed"], strict=True)) == [("vit", 0), ("spikformer", 1)]


def test_curve_numbers_measure_unsteadiness_as_a_whole_and_by_halves():
    table = pd.concat([metrics("vit", 3, [10.0, 40.0, 30.0, 50.0]), metrics("spikformer", 3, [10.0, 20.0, 30.0, 40.0])])
    found = tidy(curve_numbers(table, "fig3")).set_index(["row", "column"])["value"]
    assert found["Baseline ViT", "volatility"] == 10.0
    assert found["Baseline ViT, first half", "volatility"] == 10.0  # epochs 1 to 3
    assert found["Baseline ViT, second half", "volatility"] == 0.0  # epochs 3 to 4
    assert found["Baseline Spikformer", "volatility"] == 0.0
    assert found["Baseline ViT", "best accuracy"] == 50.0
    assert found["Baseline ViT", "epochs to 90 %"] == 4
    assert found["Baseline ViT", "rising epochs"] == pytest.approx(2 / 3)  # losses 1.5, .9, 1.2, 1.4
    assert found["Baseline ViT, first half", "rising epochs"] == 0.5
    assert found["Baseline ViT, second half", "rising epochs"] == 1.0


def test_one_epoch_has_no_unsteadiness():
    table = pd.concat([metrics("vit", 0, [10.0]), metrics("spikformer", 0, [10.0])])
    found = tidy(curve_numbers(table, "fig4")).set_index(["row", "column"])["value"]
    assert np.isnan(found["Baseline ViT", "rising epochs"]) and np.isnan(found["Baseline ViT", "volatility"])


def test_slower_convergence_is_judged_against_the_baseline_with_the_same_seed():
    first = {"vit": 90.0, "vit_no_mlp": 10.0, "spikformer": 10.0, "spikformer_no_mlp": 90.0}
    table = pd.concat([metrics(run, seed, [top1, 90.0]) for run, top1 in first.items() for seed in (4, 7)])
    numbers = as_numbers(curve_numbers(table, "fig5"))
    slower = numbers.difference("ViT No MLP", "Baseline ViT", "epochs to 90 %")
    assert (slower.value, slower.seeds) == (1.0, 2)
    assert numbers.difference("Spikformer No MLP", "Baseline Spikformer", "epochs to 90 %").value == -1.0


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


def heads_by_layer(correlation) -> pd.DataFrame:
    """Heads of Spikformer and its ablations in two layers of seeds 5 and 6, from correlation(run, seed, layer)."""
    return pd.DataFrame(
        [
            (run, seed, layer, correlation(run, seed, layer), 0.0)
            for run in ("spikformer", "spikformer_no_mlp", "spikformer_no_skip")
            for seed in (5, 6)
            for layer in (1, 2)
        ],
        columns=["run", "seed", "layer", "mean_correlation", "silent_share"],
    )


def test_head_numbers_are_signed_and_carry_their_seeds():
    bases = {"spikformer": 0.1, "spikformer_no_mlp": 0.3, "spikformer_no_skip": 0.0}
    layers = heads_by_layer(lambda run, seed, layer: bases[run] + 0.1 * layer + 0.01 * seed)
    numbers = as_numbers(head_numbers(layers, "fig2"))
    assert numbers.number("layer 2", "mean correlation").by_seed == {5: pytest.approx(0.35), 6: pytest.approx(0.36)}
    assert numbers.number("all layers", "mean correlation").value == pytest.approx(0.305)
    assert numbers.number("no MLP", "change").by_seed == {5: pytest.approx(0.2), 6: pytest.approx(0.2)}
    assert numbers.number("no skip", "change").value == pytest.approx(-0.1)


def test_a_change_that_is_noise_is_no_effect():
    noise = {5: 0.3, 6: -0.3}
    layers = heads_by_layer(lambda run, seed, layer: 0.5 + (noise[seed] if run == "spikformer_no_skip" else 0.0))
    numbers = as_numbers(head_numbers(layers, "fig2"))
    assert differs(numbers, row="no skip", column="change", margin=0.05).held is None


def test_a_layer_without_correlation_is_left_out_of_both_sides():
    layers = heads_by_layer(
        lambda run, seed, layer: layer - 0.1 if run == "spikformer" else np.nan if layer == 2 else float(layer)
    )
    numbers = as_numbers(head_numbers(layers, "fig2"))
    assert numbers.number("no MLP", "change").value == pytest.approx(0.1)


def tokens_by_layer(cosine) -> pd.DataFrame:
    """All runs in layers 0 to 2 of three seeds, from cosine(run, state)."""
    places = itertools.product(NAMES, (0, 1, 2), ("trained", "untrained"), (0, 1, 2))
    rows = [(*place, cosine(place[0], place[2]) + 0.001 * place[1]) for place in places]
    table = pd.DataFrame(rows, columns=["run", "seed", "state", "layer", "mean_cosine"])
    return table.assign(effective_rank=4.0, silent_tokens=0.0, mean_correlation=0.2, silent_share=0.0)


def test_token_numbers_compare_variants_and_training():
    clustered = tokens_by_layer(lambda run, state: 0.9 if "no_skip" in run else 0.4 if state == "trained" else 0.1)
    numbers = as_numbers(token_numbers(clustered))
    rows = ["ViT No Skip Connections minus baseline", "Spikformer No Skip Connections minus baseline"]
    assert positive(numbers, row=rows, column="mean cosine").held
    assert not positive(numbers, row=rows, column="head correlation", margin=0.05).held
    assert numbers.number("Baseline ViT minus untrained", "mean cosine").value == pytest.approx(0.3)
    assert numbers.number("untrained Baseline ViT layer 2", "mean cosine").value == pytest.approx(0.101)
    assert "head correlation" not in set(numbers.table.query("row == 'Baseline ViT layer 0'")["column"])
    spread = tokens_by_layer(lambda run, state: 0.1 if run.endswith("no_skip") else 0.4)
    assert positive(as_numbers(token_numbers(spread)), row=rows, column="mean cosine").held is False
    assert len(plot_tokens(clustered).axes) == 6
    plt.close("all")


def test_energy_counts_additions_below_multiply_adds():
    operations = pd.DataFrame(
        [("vit", 0, 1e9, 1e9, 0.0), ("spikformer", 0, 5e9, 0.0, 1e9), ("spikformer_no_mlp", 0, 5e9, 1e9, 4e9)],
        columns=["run", "seed", "macs", "multiply_adds", "additions"],
    )
    table = energy_table(operations)
    assert table.loc[("vit", 0), "Energy (µJ)"] == pytest.approx(4600)
    assert table.loc[("spikformer", 0), "Energy (µJ)"] == pytest.approx(900)
    assert table.loc[("spikformer", 0), "Spikes per input"] == pytest.approx(0.2)
    assert table.loc[("spikformer", 0), "MACs over ViT"] == 5
    assert table.loc[("spikformer_no_mlp", 0), "Energy over ViT"] == pytest.approx((4600 + 3600) / 4600)  # costs more


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
    assert figure.axes[0].collections[0].get_array().shape == (2, 2)
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
    assert found["change", "Top-1 (%)"] == 2.0
    assert found["particles fixed", "clusters"] == 1
    curves = pd.concat([metrics("vit", 0, [10.0, 20.0]), metrics("spikformer", 0, [10.0, 20.0])], ignore_index=True)
    assert len(plot_curves(curves, "fig3").axes) == 2


def test_a_loss_beyond_the_scale_is_named_in_its_own_panel():
    rows = [(run, 0, epoch, 2.3, 2.3) for run in ("vit_no_skip", "spikformer_no_skip") for epoch in range(60)]
    curves = pd.DataFrame(rows, columns=["run", "seed", "epoch", "train_loss", "val_loss"])
    curves.loc[curves.index[-1], "val_loss"] = 50.0
    first, second = plot_curves(curves, "fig6").axes
    assert "highest" not in first.get_title() and second.get_title().endswith("highest loss 50.0")
    assert second.get_ylim()[1] < 10
    plt.close("all")
