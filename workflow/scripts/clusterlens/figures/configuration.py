"""The papers' tables of hyperparameters, rendered from the configuration in effect, in the words and order printed."""

import math

import pandas as pd


def plain(value: float) -> str:
    """A number as the papers print it: 0.1, 5e-4, 1.0."""
    if isinstance(value, int) or value == 0 or abs(value) >= 0.1:
        return str(value)
    exponent = math.floor(math.log10(abs(value)))
    return f"{value / 10**exponent:.10g}e{exponent}"


def square(side: int) -> str:
    return f"{side}×{side}"


def channels(values: list[float]) -> str:
    return "[" + ", ".join(f"{value:.4f}" for value in values) + "]"


def training_configuration(architecture: dict, training: dict) -> pd.DataFrame:
    """S Table 4."""
    rows = [
        ("Image Size", square(architecture["image_size"])),
        ("Patch Size", square(architecture["patch_size"])),
        ("Embedding Dimension", architecture["embedding_dimension"]),
        ("Transformer Depth", architecture["depth"]),
        ("Number of Heads", architecture["heads"]),
        ("MLP Ratio", architecture["mlp_ratio"]),
        ("Number of Classes", architecture["classes"]),
        ("Optimizer", training["optimizer"]),
        ("Learning Rate", plain(training["learning_rate"])),
        ("Weight Decay", plain(training["weight_decay"])),
        ("Batch Size", training["batch_size"]),
        ("Epochs", training["epochs"]),
        ("Warmup Epochs", training["warmup_epochs"]),
        ("Scheduler", training["scheduler"].capitalize()),
        ("Label Smoothing", plain(training["label_smoothing"])),
        ("Mixup α", plain(training["mixup_alpha"])),
        ("Mixup Probability", plain(training["mixup_probability"])),
        ("CutMix", plain(training["cutmix_alpha"])),
        ("Mean", channels(training["normalization_mean"])),
        ("Std", channels(training["normalization_std"])),
    ]
    return pd.DataFrame(rows, columns=["Hyperparameter", "Value"]).astype(str)


def model_configuration(language_model: dict) -> pd.DataFrame:
    """A Table 2."""
    rows = [
        ("Hidden dimension", language_model["hidden_dimension"]),
        ("Attention heads", language_model["attention_heads"]),
        ("Intermediate size (FFN)", language_model["intermediate_size"]),
        ("Number of layers", language_model["layers"]),
        ("Max sequence length", language_model["max_sequence_length"]),
        ("Window size", language_model["window"]),
    ]
    return pd.DataFrame(rows, columns=["Model configuration", "Value"]).astype(str)


def pretraining_configuration(language_model: dict) -> pd.DataFrame:
    """A Table 3; a dash where the paper prints none for fine-tuning."""
    first, second = language_model["pretraining"], language_model["finetuning"]
    rows = [
        ("Batch size", first["batch_size"], second["batch_size"]),
        ("Learning Rate", plain(first["learning_rate"]), plain(second["learning_rate"])),
        ("Epochs", first["epochs"], second["epochs"]),
        ("Warm-up steps", f"{first['warmup_steps']:,}", "—"),
        ("Weight decay", plain(first["weight_decay"]), "—"),
        ("Window size", language_model["window"], "—"),
        ("Masking ratio", f"{100 * first['masking_ratio']:g}%", "—"),
    ]
    return pd.DataFrame(rows, columns=["Hyper-parameters", "Pre-training", "Finetuning"]).astype(str)


SECTIONS = {"spiking": ("architecture", "training"), "attention_clusters": ("language_model",)}  # of the config
TABLES = {
    ("spiking", "table4"): training_configuration,
    ("attention_clusters", "table2"): model_configuration,
    ("attention_clusters", "table3"): pretraining_configuration,
}
