"""Kaggle: tables by handle and version, through kagglehub, which alone handles keys: none is read or written here."""

import shutil
from pathlib import Path

import requests

from clusterlens.data.download import Unreachable, broken_off, reach
from clusterlens.data.registry import one_of, raw_names
from clusterlens.errors import UserError
from clusterlens.logs import log

KEY_HINT = (
    "no Kaggle key found: set KAGGLE_USERNAME and KAGGLE_KEY, or put the kaggle.json that https://www.kaggle.com/settings"
    " gives you into ~/.kaggle/"
)


def fetch(entry: dict, settings: dict, raw: Path, partial: Path) -> str:
    """Download the pinned version into `raw` and return it."""
    from kagglehub import config, dataset_download, exceptions
    from kagglesdk import kaggle_env

    keyless = config.get_kaggle_credentials() is None
    try:
        reach(kaggle_env.get_endpoint(kaggle_env.get_env()))
    except Unreachable as error:
        raise Unreachable(f"{error}; {KEY_HINT}" if keyless else str(error)) from None
    pinned = f"{entry['kaggle']['handle']}/versions/{entry['kaggle']['version']}"
    log.info("downloading %s from Kaggle", pinned)
    place = partial / "kaggle"
    try:
        folder = Path(dataset_download(pinned, output_dir=str(place), force_download=place.exists()))
    except (exceptions.UnauthenticatedError, exceptions.CredentialError):
        raise UserError(f"Kaggle does not give {pinned} without a key: {KEY_HINT}") from None
    except requests.HTTPError as error:
        code = error.response.status_code if error.response is not None else "error"
        if code in (401, 403):
            refused = (
                KEY_HINT if keyless else "the Kaggle key is not valid for it: make a new one at kaggle.com/settings"
            )
            raise UserError(f"Kaggle refuses {pinned} (HTTP {code}): {refused}") from None
        raise UserError(f"Kaggle does not give {pinned} (HTTP {code}): correct it in config/datasets.yaml") from None
    except (requests.RequestException, exceptions.DataCorruptionError, OSError) as error:
        raise broken_off(error, f"the transfer of {pinned} broke off ({type(error).__name__}); run again") from None
    for names in raw_names(entry):
        file = one_of(folder, names, f"Kaggle's {pinned}")
        shutil.copyfile(file, raw / file.name)
    return f"version {entry['kaggle']['version']}"
