"""Wrong configs are refused in one line that teaches; the right one passes."""

import pytest

from clusterlens.config import Settings, check_config
from clusterlens.data.registry import load
from clusterlens.data.settings import declare
from clusterlens.errors import UserError
from clusterlens.provenance import ROOT
from reference.configs import CONFIG, MISSING, SCHEMA, changed

DATASETS = load(ROOT / "config" / "datasets.yaml")


def test_the_shipped_config_passes():
    check_config(changed(), SCHEMA, CONFIG)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("devise", "cpu", "unknown key 'devise': did you mean 'device'?"),
        ("device", "gpu", "config key 'device': 'gpu'"),
        ("device", 3, "'device': 3 is a whole number, but a text is needed"),
        ("scale", "tiny", "'scale': 'tiny' is not allowed: allowed: custom, laptop, mini, paper"),
        ("scale", MISSING, "key 'scale' is missing"),
        ("mirror", "no/such/folder", "no folder 'no/such/folder' here"),
        ("mirror", ["a"], "'mirror': ['a'] is a list, but a text or null is needed"),
        ("pathvars/results", "/absolute", "pathvars/results"),
        ("training/epochs", -1, "'training/epochs': -1 is too small: it must be at least 1"),
        ("training/epochs", "many", "'training/epochs': 'many' is a text, but a whole number is needed"),
        ("training/epoch", 5, "'training': unknown key 'epoch': did you mean 'epochs'?"),
        ("training/learning_rate", 0, "greater than 0"),
        ("training/label_smoothing", 1.5, "less than 1"),
        ("training/seeds", [], "at least 1"),
        ("training/seeds", [1, 1], "names something twice"),
        ("training/optimizer", "Adam", "did you mean 'AdamW'?"),
        ("training", None, "'training': None is nothing, but a section is needed"),
        ("architecture/heads", 0, "'architecture/heads': 0 is too small"),
        ("architecture/heads", 5, "5 heads do not divide the width 384"),
        ("architecture/patch_size", 5, "patch"),
        ("language_model/attention_heads", 3, "3 heads do not divide the width 256"),
        ("architecture/time_step", 4, "did you mean 'time_steps'?"),
        ("data/cifar10/source", "internet", "data/cifar10"),
        ("data/cifar11", {"source": "hub"}, "did you mean 'cifar10'?"),
        ("data/heart/feature", ["cp"], "did you mean 'features'?"),
        ("language_model/window", 127, "window"),
        ("language_model/pretraining/masking_ratio", 1.0, "less than 1"),
    ],
)
def test_a_wrong_config_is_refused_in_one_line(path, value, words):
    with pytest.raises(UserError) as refusal:
        check_config(changed((path, value)), SCHEMA, CONFIG)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("path", "value", "used", "label"),
    [
        ("device", "cpu", "device", "paper"),
        ("training/seeds", [1, 2, 3], "training", "paper"),
        ("training/gpus", 0, "training", "paper"),
        ("training/epochs", 2, "training", "custom"),
        ("training/epochs", 2, "architecture", "paper"),
        ("training/correlation_images", 8, "training/correlation_images", "custom"),
        ("training/correlation_images", 8, ("training", "experiment"), "paper"),
        ("simulations/transformers/fig4/beta", 3.0, "simulations/transformers/fig4", "custom"),
        ("simulations/transformers/fig4/beta", 3.0, "simulations/transformers/fig3", "paper"),
        ("simulations/transformers/fig4/seeds", [7], "simulations/transformers/fig4", "paper"),
        ("simulations/frames", 3, "simulations/frames", "paper"),
        ("data/heart/samples_per_class", 10, "data/heart", "custom"),
        ("data/heart/features", ["age", "chol", "trestbps"], "data/heart", "custom"),
        ("data/heart/seed", 5, "data/heart", "paper"),
        ("data/heart/source", "mirror", "data/heart", "paper"),
        ("data/picture/size", 16, "data/picture/size", "custom"),
        ("attention/links", 10, ("attention", "experiment"), "paper"),
        ("attention/iterations", 3, ("attention", "experiment"), "custom"),
    ],
)
def test_a_changed_experiment_does_not_pass_for_the_papers(path, value, used, label):
    place = (used,) if isinstance(used, str) else used
    assert Settings(changed((path, value)), CONFIG, SCHEMA).scale(*place) == label
    mini = changed((path, value)) | {"scale": "mini"}
    assert Settings(mini, CONFIG, SCHEMA).scale(*place) == {"paper": "paper", "custom": "mini"}[label]


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ((), "laptop"),
        ((("training/seeds", [7]),), "laptop"),
        ((("training/epochs", 1),), "custom"),
        ((("training/evaluate_on", "held_out"),), "custom"),
    ],
)
def test_the_laptops_label_is_for_its_own_settings(changes, label):
    own = (("architecture/depth", 4), ("training/epochs", 12))
    settings = changed(*own, *changes) | {"scale": "laptop"}
    assert Settings(settings, CONFIG, SCHEMA, changed(*own)).scale("training", "experiment") == label
    assert Settings(settings, CONFIG, SCHEMA, changed(*own)).scale("architecture") == "laptop"
    assert Settings(settings, CONFIG, SCHEMA, changed(*own)).scale("attention") == "paper"


def test_roles_choose_what_a_job_depends_on():
    settings = Settings(CONFIG, CONFIG, SCHEMA)
    recipe = settings.value("training", "experiment")
    assert "epochs" in recipe and not {"seeds", "gpus", "correlation_images", "correlation_layers"} & recipe.keys()
    assert set(settings.value("data/heart", "source")) == {"source", "files"}
    assert set(settings.value("data/c4", "source")) == {"source", "files", "documents", "min_words"}


def test_every_key_has_a_role():
    settings = Settings(CONFIG, CONFIG, SCHEMA)
    allowed = {"experiment", "runs", "read_out", "source", "machine"}
    for section in CONFIG:
        for key in settings.keys(section):
            assert settings.roles(key) and settings.roles(key) <= allowed, key


def test_an_embedded_table_brings_its_own_columns():
    config = changed(("data/heart/source", "embedded"))
    declare(config["data"], CONFIG["data"], DATASETS)
    assert config["data"]["heart"]["label"] == "first_cultivar" and config["data"]["heart"]["samples_per_class"] == 59
    config["data"]["heart"]["features"] = ["age", "chol", "cp"]
    with pytest.raises(UserError, match="the embedded stand-in has"):
        declare(config["data"], CONFIG["data"], DATASETS)
