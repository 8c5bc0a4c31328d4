"""The Hugging Face hub: files and checkpoints at a pinned revision, and the streamed head of a corpus."""

import itertools
import logging
import os
from pathlib import Path

from clusterlens.data.checksums import verify
from clusterlens.data.download import Unreachable, broken_off, reach
from clusterlens.data.text import long_enough, write_documents, write_labelled, write_lines
from clusterlens.errors import UserError
from clusterlens.logs import log
from clusterlens.redaction import without_user

SMALL_FILES = {
    *("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"),
    *("spiece.model", "vocab.json", "merges.txt"),
}
# Its warnings show whole addresses, with the password that HF_ENDPOINT may hold.
logging.getLogger("huggingface_hub.utils._http").setLevel(logging.ERROR)
WEIGHTS = ("model.safetensors", "pytorch_model.bin")


def fetch(entry: dict, settings: dict, raw: Path, partial: Path) -> str:
    """Fill `raw` from the hub and return the commit it came from; `partial` keeps what a broken transfer has got."""
    if offline():
        raise Unreachable("the hub must not be asked while HF_HUB_OFFLINE is set")
    reach(endpoint())
    return FETCHERS[entry["kind"]](entry, settings, raw, partial)


def offline() -> bool:
    """Whether the user forbids asking the hub."""
    return os.environ.get("HF_HUB_OFFLINE", "0").upper() in {"1", "ON", "YES", "TRUE"}


def endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def get_file(hub: dict, path: str, repo_type: str, partial: Path) -> Path:
    """One file of a repository, with the hub library's own resume, verified where the registry knows its checksum."""
    from huggingface_hub import errors, hf_hub_download

    place = f"{hub['id']}/{path} at revision {hub['revision']}"
    log.info("downloading %s from %s", place, without_user(endpoint()))
    missing = (errors.RepositoryNotFoundError, errors.RevisionNotFoundError, errors.RemoteEntryNotFoundError)
    try:
        options = {"repo_type": repo_type, "revision": hub["revision"], "local_dir": partial, "endpoint": endpoint()}
        file = Path(hf_hub_download(hub["id"], path, etag_timeout=10, **options))
    except missing as error:
        raise UserError(
            f"the hub has no {place} ({type(error).__name__}): correct it in config/datasets.yaml"
        ) from None
    except (errors.HfHubHTTPError, errors.LocalEntryNotFoundError, OSError) as error:
        said = f"the transfer of {place} broke off ({type(error).__name__}); the next run resumes"
        raise broken_off(error, said) from None
    if checksum := hub.get("checksums", {}).get(path):
        try:
            verify(file, checksum, place)
        except UserError:
            file.unlink()
            raise
    return file


def fetch_tables(entry: dict, settings: dict, raw: Path, partial: Path) -> str:
    """Parquet files as the plain text files that a mirror holds."""
    import pyarrow.parquet as parquet

    for name, path in entry["hub"]["splits"].items():
        table = parquet.read_table(get_file(entry["hub"], path, "dataset", partial)).to_pydict()
        texts = table.get("text", table.get("sentence"))
        if entry["kind"] == "text":
            write_lines(raw / name, [text.removesuffix("\n") for text in texts])
        else:
            write_labelled(raw / name, list(zip(texts, table["label"], strict=True)))
    return entry["hub"]["revision"]


def fetch_documents(entry: dict, settings: dict, raw: Path, partial: Path) -> str:
    """Read a corpus from its start, and no further than the asked number of long enough documents."""
    hub = entry["hub"]
    [(name, path)] = hub["splits"].items()
    try:
        texts = stream(f"hf://datasets/{hub['id']}@{hub['revision']}/{path}")
        kept = list(itertools.islice(long_enough(texts, settings["min_words"]), settings["documents"]))
    except (OSError, RuntimeError) as error:  # the streaming libraries' own errors all derive from these two
        raise Unreachable(f"streaming {hub['id']} broke off ({type(error).__name__}); run again") from None
    write_documents(raw / name, kept)
    return hub["revision"]


def stream(address: str):
    """The texts of a JSON-lines file (compressed or not), one after the other as they arrive."""
    import datasets

    for number, row in enumerate(datasets.load_dataset("json", data_files=address, split="train", streaming=True), 1):
        if number % 500 == 0:
            log.info("%d documents read", number)
        yield row["text"]


def fetch_checkpoint(entry: dict, settings: dict, raw: Path, partial: Path) -> str:
    """Config, tokenizer and one set of weights (safetensors where the repository has them)."""
    from huggingface_hub import HfApi, errors

    hub = entry["hub"]
    try:
        info = HfApi(endpoint=endpoint()).model_info(hub["id"], revision=hub["revision"], timeout=10)
    except (errors.HfHubHTTPError, OSError) as error:
        raise Unreachable(f"the hub does not list {hub['id']} ({type(error).__name__})") from None
    present = {file.rfilename for file in info.siblings}
    weights = next((name for name in WEIGHTS if name in present), None)
    if weights is None:
        raise UserError(f"{hub['id']} at revision {hub['revision']} holds neither {' nor '.join(WEIGHTS)}")
    pinned = hub | {"revision": info.sha}
    for name in [*sorted(SMALL_FILES & present), weights]:
        get_file(pinned, name, "model", partial).replace(raw / name)
    return info.sha


def fetch_files(entry: dict, settings: dict, raw: Path, partial: Path) -> str:
    """The files that a mirror holds, as they are."""
    for name in entry["mirror"]["files"]:
        get_file(entry["hub"], name, "model", partial).replace(raw / name)
    return entry["hub"]["revision"]


FETCHERS = {
    "text": fetch_tables,
    "labelled_text": fetch_tables,
    "documents": fetch_documents,
    "checkpoint": fetch_checkpoint,
    "tokenizer": fetch_files,
}
