"""A checkpoint, from a local folder or the hub, as a float32 model in eager attention, with tokenizer and facts.

Nothing but tensors is ever read: safetensors, or torch files that torch opens with `weights_only`; no remote code runs.
"""

import json
import pickle
import re
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, PreTrainedConfig, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_MASKED_LM_MAPPING_NAMES

from clusterlens.data.checkpoints import inspect, weight_files
from clusterlens.data.download import Unreachable, reach
from clusterlens.data.hub import endpoint, offline
from clusterlens.errors import UserError
from clusterlens.probing.architectures import ARCHITECTURES, Architecture, longest, quiet
from clusterlens.probing.text import Characters
from clusterlens.probing.unroll import change, extend

HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
TOKENIZER_FILES = ("tokenizer.json", "spiece.model", "vocab.json", "vocab.txt")
SMALL_FILES = ["*.json", "merges.txt", "vocab.txt", "spiece.model"]
CHARACTERS = "characters"


@dataclass(frozen=True)
class Checkpoint:
    """A model ready to be probed. `facts` is what a manifest says about it."""

    model: PreTrainedModel
    tokenizer: Any
    facts: dict


def load(
    source: str,
    *,
    revision: str = "main",
    tokenizer: str | None = None,
    layers: int | None = None,
    heads: int | None = None,
    device: torch.device | str = "cpu",
) -> Checkpoint:
    """Load the checkpoint in the folder `source`, or of that name on the hub.

    `tokenizer` names another folder or hub id, or is `characters` where a checkpoint has none. `layers` unrolls ALBERT
    and repeats T5's last layer, or cuts any model short; `heads` splits the same weights into another number of heads
    (T5: 1, the mean of all heads).
    """
    folder = locate(source, revision)
    found = inspect(folder)
    architecture = supported(folder, found["model_type"])
    config = architecture.model.config_class.from_pretrained(folder)
    trained = {"layers": config.num_hidden_layers, "heads": config.num_attention_heads}
    change(config, layers=layers, heads=heads)
    model = read_weights(folder, architecture, config)
    extend(model, layers=layers, heads=heads)
    commit = None if folder == Path(source).expanduser() else folder.name
    facts = {"source": source, "revision": commit} | found | describe(model) | {"trained": trained}
    return Checkpoint(model.to(device).eval(), read_tokenizer(folder, tokenizer, config), facts)


def untrained(checkpoint: Checkpoint, *, seed: int) -> Checkpoint:
    """The same architecture with freshly initialised weights: what training adds is what differs from it."""
    facts = checkpoint.facts
    config = deepcopy(checkpoint.model.config)
    config.num_hidden_layers, config.num_attention_heads = facts["trained"]["layers"], facts["trained"]["heads"]
    change(config, layers=facts["layers"], heads=facts["heads"])
    architecture = ARCHITECTURES[config.model_type]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = architecture.model(config, **dict(architecture.options)).float()
    extend(model, layers=facts["layers"], heads=facts["heads"])
    facts = checkpoint.facts | {"weights": f"freshly initialised, seed {seed}"}
    return Checkpoint(model.to(checkpoint.model.device).eval(), checkpoint.tokenizer, facts)


def describe(model: PreTrainedModel) -> dict:
    """Sizes of a model as it will be probed."""
    config = model.config
    return {
        "layers": config.num_hidden_layers,
        "heads": config.num_attention_heads,
        "hidden": config.hidden_size,
        "head_dim": config.d_kv if config.model_type == "t5" else config.hidden_size // config.num_attention_heads,
        "vocabulary": config.vocab_size,
        "longest": longest(model),
    }


def locate(source: str, revision: str) -> Path:
    """The folder itself, or the hub's files in the local cache."""
    folder = Path(source).expanduser()
    if folder.is_dir():
        return folder
    if folder.exists() or not HUB_ID.fullmatch(source) or source.startswith("."):
        raise UserError(f"checkpoint '{source}': no such folder; give a folder of save_pretrained, or a hub id")
    return snapshot(source, revision)


def snapshot(source: str, revision: str) -> Path:
    """Download config, tokenizer and one set of weights into the hub's cache, or take what the cache has."""
    from huggingface_hub import errors, snapshot_download

    reason = "HF_HUB_OFFLINE is set" if offline() else None
    if reason is None:
        try:
            reach(endpoint())
        except Unreachable as error:
            reason = str(error)
    options = {"revision": revision, "endpoint": endpoint(), "local_files_only": reason is not None}
    try:
        for pattern in ("model*.safetensors", "pytorch_model*.bin"):
            folder = Path(snapshot_download(source, allow_patterns=[*SMALL_FILES, pattern], **options))
            if any(folder.glob(pattern)):
                break
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError):
        raise UserError(f"checkpoint '{source}': neither a folder here nor on the hub at revision {revision}") from None
    except errors.LocalEntryNotFoundError:
        why = reason or "the transfer broke off"
        raise UserError(
            f"checkpoint '{source}': no such folder, and not in the hub's cache ({why}): download it first"
        ) from None
    except (errors.HfHubHTTPError, OSError) as error:
        raise Unreachable(f"the transfer of {source} broke off ({type(error).__name__}); run again") from None
    return folder


def supported(folder: Path, kind: str) -> Architecture:
    """The architecture of that name, or one line on why it cannot be probed."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    known = f"probed are encoders: {', '.join(ARCHITECTURES)}"
    if config.get("is_decoder"):
        raise UserError(f"{folder}: a {kind} with is_decoder, which sees earlier tokens only; {known}")
    if kind in ARCHITECTURES:
        if "quantization_config" in config:
            raise UserError(f"{folder}: quantised weights; save the checkpoint in float16, bfloat16 or float32")
        return ARCHITECTURES[kind]
    if kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and kind not in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        raise UserError(f"{folder}: {kind} is a decoder-only model; {known}")
    raise UserError(f"{folder}: model type '{kind}' cannot be probed; {known}")


def read_weights(folder: Path, architecture: Architecture, config: PreTrainedConfig) -> PreTrainedModel:
    """The weights in float32, whole and finite."""
    weights = weight_files(folder)[0].name
    options = {"config": config, "dtype": torch.float32, "attn_implementation": "eager", "local_files_only": True}
    options |= {"use_safetensors": weights.endswith(".safetensors"), "output_loading_info": True}
    try:
        with quiet():
            model, report = architecture.model.from_pretrained(folder, **options, **dict(architecture.options))
    except pickle.UnpicklingError:
        raise UserError(
            f"{folder / weights}: a pickle that holds more than tensors and could run code; it is not opened:"
            " save the model again as safetensors"
        ) from None
    except (OSError, RuntimeError, ValueError, EOFError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{folder}: weights and config do not fit together or are damaged ({reason})") from None
    if report["missing_keys"]:
        missing = sorted(report["missing_keys"])
        raise UserError(
            f"{folder}: the weights lack {len(missing)} tensors of a {config.model_type} ({missing[0]}, ...):"
            " another class of model, or an incomplete checkpoint"
        )
    for name, tensor in model.named_parameters():
        if not torch.isfinite(tensor).all():
            raise UserError(f"{folder}: the weights {name} hold values that are not finite; retrieve or train it again")
    return model


def read_tokenizer(folder: Path, source: str | None, config: PreTrainedConfig):
    """The checkpoint's own tokenizer, that of another checkpoint, or a symbol per character."""
    if source == CHARACTERS:
        return Characters(config.vocab_size)
    place = folder if source is None else locate(source, "main")
    # Without these files transformers makes up a tokenizer that knows no word.
    if not any((place / name).is_file() for name in TOKENIZER_FILES):
        raise UserError(
            f"{place}: no tokenizer ({', '.join(TOKENIZER_FILES)}): set 'tokenizer' to a folder or hub id that has one,"
            f" or to '{CHARACTERS}', a symbol per character"
        )
    try:
        with quiet():
            return AutoTokenizer.from_pretrained(place, config=config, local_files_only=True)
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{place}: the tokenizer cannot be read ({reason})") from None
