"""One pass by the schema: what the command line and YAML hand over becomes what is meant, or is refused in one line."""

import pytest
import yaml

from clusterlens.config import check_config
from clusterlens.errors import UserError
from clusterlens.values import LARGEST, read_values
from reference.configs import CONFIG, SCHEMA, changed

NAN, INFINITY = float("nan"), float("inf")


def texts(value):
    """A value as Snakemake hands it over from inside `--config 'section={...}'`: all leaves as texts."""
    if isinstance(value, dict):
        return {key: texts(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [texts(entry) for entry in value]
    return yaml.safe_dump(value).partition("\n")[0] if value is None or isinstance(value, bool) else str(value)


def test_the_whole_config_can_come_from_the_command_line():
    config = {key: texts(value) if isinstance(value, dict) else value for key, value in CONFIG.items()}
    check_config(config, SCHEMA, CONFIG)
    assert config == CONFIG


@pytest.mark.parametrize(
    ("path", "given", "meant"),
    [
        ("training/epochs", "5", 5),
        ("training/epochs", 5.0, 5),
        ("training/epochs", "5.0", 5),
        ("training/seeds", [1.0, "2.0"], [1, 2]),
        ("training/learning_rate", "1e-3", 1e-3),
        ("architecture/patch_size", 4.0, 4),
        ("attention/clusters/heart", "5.0", 5),
        ("data/heart/samples_per_class", ["10", 12.0], [10, 12]),
        ("diagnose/patterns", [{"pattern": "local", "window": "64.0"}], [{"pattern": "local", "window": 64}]),
        ("simulations/transformers/fig4/beta", "1.0", 1.0),
        ("simulations/transformers/fig4/seeds", ["1", "2"], [1, 2]),
        ("simulations/transformers/fig5/variants/literal/value", {"kind": "diagonal", "entries": ["-1", "2"]}, None),
        ("simulations/emergence/tokens_effect/sweep/tokens", ["5", "8.0"], [5, 8]),
        ("probing/flows/transformers/fig7/beta", "2", 2),
    ],
)
def test_numbers_arrive_as_what_they_mean(path, given, meant):
    config = changed((path, given))
    check_config(config, SCHEMA, CONFIG)
    for part in path.split("/"):
        config = config[part]
    meant = meant or {"kind": "diagonal", "entries": [-1, 2]}
    assert config == meant and repr(config) == repr(meant)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("training/epochs", 2.5, "2.5 is a number, but a whole number is needed"),
        ("training/learning_rate", NAN, "'training/learning_rate': nan is not a number that can be computed with"),
        ("training/normalization_mean", [0.5, INFINITY, 0.5], "'training/normalization_mean/1': inf"),
        ("simulations/transformers/fig4/beta", [1.0, NAN], "'simulations/transformers/fig4/beta/1': nan"),
        ("simulations/transformers/fig6/variants/mixed/threshold", "-inf", "mixed/threshold': -inf"),
        ("simulations/spiking/fig1_sweep/sweep/threshold", ["nan"], "sweep/threshold/0': nan"),
        ("simulations/transformers/fig4/value", {"kind": "given", "entries": [[1, ".nan"]]}, "value/entries/0/1"),
        ("simulations/transformers/fig4/beta", "1e308", "1e+308 is too large"),
        ("training/seeds", [2**64], "'training/seeds/0'"),
        ("language_model/seeds", [LARGEST + 1], "too large"),
        ("training/epochs", "9" * 5000, "'training/epochs': inf"),
        ("data/heart/seed", -(2**70), "too small"),
        ("training/epochs", yaml.safe_load("2024-01-01"), "2024-01-01 is a date, but a whole number is needed"),
        ("data/heart/label", yaml.safe_load("2024-01-01"), "2024-01-01 is a date, but a text is needed"),
        ("training/epochs", "2024-01-01", "'2024-01-01' is a text, but a whole number is needed"),
        ("training/random_augment", "junk", "'junk' does not have the form"),
        ("training/random_augment", "rand-m9-nope3", "does not have the form"),
        ("simulations/transformers/fig4/sweep", {"tocens": [5]}, "unknown key 'tocens': did you mean 'tokens'?"),
        ("simulations/emergence/tokens_effect/sweep", {"tokens": [5], "start": ["cube"]}, "tokens and start are given"),
        ("simulations/spiking/fig1/variants", {1: {}}, "the name 1 is a whole number, not a text"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(path, value, words):
    with pytest.raises(UserError) as refusal:
        check_config(changed((path, value)), SCHEMA, CONFIG)
    assert words in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.parametrize("policy", ["", "rand-m9-n1-mstd0.4-inc1", "rand-m9-n2", "rand-mstd1-tweights-p0.5-mmax20"])
def test_policies_in_timms_notation_pass(policy):
    check_config(changed(("training/random_augment", policy)), SCHEMA, CONFIG)


def test_texts_stay_texts_where_the_schema_wants_them():
    config = changed(("data/heart/label", "1e3"))
    read_values(config, SCHEMA)
    assert config["data"]["heart"]["label"] == "1e3"
