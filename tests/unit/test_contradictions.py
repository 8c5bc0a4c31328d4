"""Settings that contradict each other, and simulations that no figure can draw, are refused when the config is read."""

import pytest

from clusterlens.config import check_config
from clusterlens.errors import UserError
from clusterlens.project import Project
from reference.configs import CONFIG, SCHEMA, changed

FIG4 = "simulations/transformers/fig4"


def refused(settings: dict) -> str:
    """The line that refuses the config with these settings, by path."""
    with pytest.raises(UserError) as refusal:
        Project(changed(*settings.items()))
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"training/epochs": 2}, "a warm-up of 3 epochs does not fit into 2"),
        ({"training/minimum_learning_rate": 1.0}, "'training/minimum_learning_rate': 1 is above the learning rate"),
        ({"training/warmup_learning_rate": 1.0}, "'training/warmup_learning_rate': 1 is above the learning rate"),
        ({"training/train_images": 60000}, "60,000 images are asked for, but the train split has 50,000"),
        ({"training/test_images": 10001}, "but the test split has 10,000"),
        ({"training/test_images": 400, "data/cifar10/source": "embedded"}, "but the test split has 359"),
        ({"training/evaluate_on": "held_out"}, "nothing is held out where all data train; set training/train_images"),
        (
            {"language_model/finetuning/evaluate_on": "held_out"},
            "'language_model/finetuning/evaluate_on': nothing is held out where all data train",
        ),
        (
            {"training/evaluate_on": "held_out", "training/train_images": 49000, "training/test_images": 1001},
            "1,001 images are asked for, but the held_out split has 1,000",
        ),
        ({"training/test_images": 9}, "9 images cannot hold one of each of the 10 classes"),
        ({"training/train_images": 4}, "4 images cannot hold one of each of the 10 classes"),
        ({"training/correlation_layers": [1, 13]}, "layer 13 is beyond the depth 12"),
        ({"language_model/pretraining/train_lines": 32}, "160 steps in 80 epochs, fewer than the 10,000"),
        (
            {"language_model/finetuning/train_texts": 8, "language_model/finetuning/warmup_steps": 6},
            "5 steps in 5 epochs, fewer than the 6",
        ),
        ({"probing/similarity/max_tokens": 300}, "no text has more than 300 tokens when cut to 300"),
        ({"probing/head_correlation/texts": 2000}, "2000 texts are asked of 1024 documents"),
        ({"probing/stand_in/attention_heads": 7}, "7 heads do not divide the width 64"),
        ({"probing/flows/transformers/fig7/snapshots": [0, 16]}, "16 is beyond the end, 15"),
        ({"data/heart/features": ["cp", "oldpeak", "Target"]}, "the label 'target' cannot be a feature too"),
        ({"data/heart/source": "file"}, "'data/heart/files/table': not set, but data/heart/source is file"),
        ({"data/heart/source": "file", "data/heart/files/table": "."}, "'.' is a folder; name a file"),
        ({"data/t5-large/source": "file", "data/t5-large/files/folder": "/etc/hostname"}, "is a file; name a folder"),
    ],
)
def test_a_contradiction_is_refused_in_one_line(settings, words):
    assert words in refused(settings)


def test_more_images_can_be_held_out_than_are_there_to_test():
    held_out = {"training/evaluate_on": "held_out", "training/train_images": 30000, "training/test_images": 20000}
    Project(changed(*held_out.items()))


def test_the_shipped_layers_need_not_be_named_anew_for_a_shallow_model():
    check_config(changed(("architecture/depth", 2)), SCHEMA, CONFIG)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({f"{FIG4}/tokens": 1}, "'simulations/transformers/fig4/tokens': 1 is too small"),
        ({f"{FIG4}/tokens": 2}, "2 is too small: it must be at least 5"),
        ({f"{FIG4}/tokens": 100_000}, "100,000 tokens, 1 heads, 10 systems"),
        ({f"{FIG4}/step": 1e-9}, "lower one of them"),
        (
            {f"{FIG4}/dimension": 1},
            "fig4/dimension': the figure shows tokens in 3 dimensions",
        ),
        ({f"{FIG4}/dimension": 50}, "in 3 dimensions, not 50"),
        ({"simulations/transformers/fig5/variants/literal/dimension": 3}, "in 2 dimensions, not 3"),
        ({f"{FIG4}/measures": ["clusters", "mean_cosine"]}, "the item shows 'silhouette'"),
        ({f"{FIG4}/sweep": {"tokens": [5, 6]}}, "fig4/sweep': the figure of this item is made for none"),
        ({f"{FIG4}/variants": {"more": {}}}, "fig4/variants': the figure of this item is made for none"),
        ({"simulations/transformers/fig5/variants/mixt": {}}, "unknown variant 'mixt': did you mean 'mixed'?"),
        ({"simulations/transformers/eigenvalue_sweep/variants/third=1": {}}, "unknown variant 'third=1'"),
        ({"simulations/spiking/fig1_sweep/sweep": {"tokens": [5, 6]}}, "unknown swept setting 'tokens'"),
        ({"simulations/spiking/fig1_sweep/sweep/threshold": [1, 2, 3]}, "the figure has room for 2 values, not 3"),
        ({f"{FIG4}/field": "free"}, "the figure shows tokens on the sphere, where 'free' does not keep them"),
        ({f"{FIG4}/start_scale": 0}, "0 is too small: it must be greater than 0"),
        ({f"{FIG4}/beta": [1.0, 2.0]}, "shows one value, not several side by side"),
        ({f"{FIG4}/snapshots": [0, 20]}, "'simulations/transformers/fig4/snapshots': 20 is beyond the end, 15"),
        ({f"{FIG4}/snapshots": [0, 0.25]}, "snapshot 0.25 is not a kept time"),
        ({f"{FIG4}/integrator": "map"}, "field 'causal' does not go with integrator 'map'"),
        ({f"{FIG4}/value": {"kind": "diagonal", "entries": [1.0]}}, "matrix entries have shape (1,)"),
        ({"simulations/emergence/polytope/heads": 2}, "takes one head"),
        ({"simulations/emergence/circle_start/dimension": 1}, "dimension"),
    ],
)
def test_what_no_figure_can_draw_is_refused_before_it_is_simulated(settings, words):
    assert words in refused(settings)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("simulations/emergence/heads_effect/variants/heads=32", {"heads": 32}),
        ("simulations/emergence/tokens_effect/sweep/tokens", [5, 7, 9, 11]),
        ("simulations/emergence/boolean_matrix/dimension", 2),
        (f"{FIG4}/tokens", 5),
        (f"{FIG4}/measures", [*CONFIG["simulations"]["transformers"]["fig4"]["measures"], "largest_gap"]),
        ("simulations/spiking/fig1_sweep/beta", 1.0),
    ],
)
def test_what_a_figure_can_draw_passes(path, value):
    check_config(changed((path, value)), SCHEMA, CONFIG)
