"""A retrieval as the tests of sources and of the user's own files ask for it."""

import pytest

from clusterlens.data.registry import load
from clusterlens.data.retrieve import retrieve
from clusterlens.errors import UserError
from clusterlens.provenance import ROOT

REGISTRY = load(ROOT / "config" / "datasets.yaml")
HEART = "oldpeak,thalach,cp,target\n1.0,150,0,1\n2.0,120,1,0\n"


def settings(source, **files):
    return {"source": source, "files": files, "documents": 2, "min_words": 3, "seed": 0, "size": 16}


def refused(name, chosen, mirror, folder):
    """The one line with which a retrieval is refused; nothing of it may be left."""
    with pytest.raises(UserError) as caught:
        retrieve(name, REGISTRY[name], chosen, mirror, folder / "out" / "raw")
    assert "\n" not in str(caught.value)
    assert not [path for path in folder.rglob("out/**/*") if path.is_file()]
    return str(caught.value)
