"""The shipped config with its schema, and copies of it with one setting changed."""

import copy
from typing import Any

from clusterlens.config import load_schema
from clusterlens.provenance import ROOT
from clusterlens.schema import read_yaml

SCHEMA = load_schema()
CONFIG = read_yaml(ROOT / "config" / "config.yaml")
MISSING = object()


def changed(*changes: tuple[str, Any]) -> dict:
    """A copy of the shipped config with other values at these paths; MISSING takes a key out."""
    config = copy.deepcopy(CONFIG)
    for path, value in changes:
        *parents, last = path.split("/")
        place = config
        for part in parents:
            place = place[part]
        if value is MISSING:
            del place[last]
        else:
            place[last] = copy.deepcopy(value)
    return config
