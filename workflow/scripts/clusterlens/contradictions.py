"""What no schema can see: settings that do not fit each other, or a folder that is not there."""

from collections.abc import Iterator
from pathlib import Path

from clusterlens.data.subsets import HELD_OUT
from clusterlens.particles.drawable import undrawable
from clusterlens.training.warmup import check_warmup

LIMITS = {"pretraining": "train_lines", "finetuning": "train_texts"}  # of the texts that train


def contradictions(config: dict, shipped: dict) -> Iterator[str]:
    """Each contradiction as the rest of a line that starts with `config`; `shipped` is the config of the papers."""
    mirror = config["mirror"]
    if mirror is not None and not Path(mirror).is_dir():
        yield f"key 'mirror': no folder '{mirror}' here; give an existing folder or null"
    yield from of_images(config["architecture"], config["training"])
    layers, depth = config["training"]["correlation_layers"], config["architecture"]["depth"]
    if max(layers) > depth and layers != shipped["training"]["correlation_layers"]:
        yield f"key 'training/correlation_layers': layer {max(layers)} is beyond the depth {depth}; lower it"
    yield from of_language_models(config["language_model"])
    yield from nothing_held_out(config)
    yield from of_probing(config["probing"], config["data"]["c4"]["documents"])
    yield from undrawable(config["simulations"], shipped["simulations"])


def of_images(architecture: dict, training: dict) -> Iterator[str]:
    yield from undivided("architecture", architecture["embedding_dimension"], architecture["heads"])
    side, patch = architecture["image_size"], architecture["patch_size"]
    if side % patch:
        yield f"section 'architecture': patches of {patch} do not tile an image of {side} pixels; choose a divisor"
    if training["warmup_epochs"] > training["epochs"]:
        yield (
            f"key 'training/warmup_epochs': a warm-up of {training['warmup_epochs']} epochs does not fit into"
            f" {training['epochs']}; lower it or raise epochs"
        )
    for key in ("minimum_learning_rate", "warmup_learning_rate"):
        if training[key] > training["learning_rate"]:
            yield (
                f"key 'training/{key}': {training[key]:g} is above the learning rate itself,"
                f" {training['learning_rate']:g}; lower it"
            )
    for key in ("train_images", "test_images"):
        if training[key] is not None and training[key] < architecture["classes"]:
            yield (
                f"key 'training/{key}': {training[key]} images cannot hold one of each of the"
                f" {architecture['classes']} classes; raise it, or null for all"
            )


def nothing_held_out(config: dict) -> Iterator[str]:
    """Where all training data train, none is left to evaluate on."""
    sections = {"training": (config["training"], "train_images")}
    sections |= {f"language_model/{phase}": (config["language_model"][phase], key) for phase, key in LIMITS.items()}
    for name, (section, key) in sections.items():
        if section["evaluate_on"] == HELD_OUT and section[key] is None:
            yield f"key '{name}/evaluate_on': nothing is held out where all data train; set {name}/{key}"


def of_language_models(settings: dict) -> Iterator[str]:
    yield from undivided("language_model", settings["hidden_dimension"], settings["attention_heads"])
    longest = settings["max_sequence_length"]
    for window in (settings["window"], *settings["windows"]):
        if window > longest:
            yield f"section 'language_model': a window of {window} does not fit {longest} tokens; choose a smaller one"
    for phase, limit in LIMITS.items():
        if settings[phase][limit] is not None:
            check_warmup(settings[phase], settings[phase][limit], f"config section 'language_model/{phase}'")


def of_probing(settings: dict, documents: int) -> Iterator[str]:
    yield from undivided(
        "probing/stand_in", settings["stand_in"]["hidden_dimension"], settings["stand_in"]["attention_heads"]
    )
    for part in ("similarity", "layers"):
        shortest, longest = settings[part]["min_tokens"], settings[part]["max_tokens"]
        if shortest >= longest:
            yield (
                f"section 'probing/{part}': no text has more than {shortest} tokens when cut to {longest}; raise"
                " max_tokens or lower min_tokens"
            )
    if settings["head_correlation"]["texts"] > documents:
        yield (
            f"key 'probing/head_correlation/texts': {settings['head_correlation']['texts']} texts are asked of"
            f" {documents} documents; raise data/c4/documents or lower it"
        )
    for paper, items in settings["flows"].items():
        for item, flow in items.items():
            if max(flow["snapshots"]) > flow["time"]:
                yield (
                    f"key 'probing/flows/{paper}/{item}/snapshots': {max(flow['snapshots']):g} is beyond the end,"
                    f" {flow['time']:g}; lower it or raise time"
                )


def undivided(section: str, width: int, heads: int) -> Iterator[str]:
    if width % heads:
        yield f"section '{section}': {heads} heads do not divide the width {width}; choose a divisor of {width}"
