"""The memory that torch tensors take, counted operation by operation."""

import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveTensors(TorchDispatchMode):
    """Counts the bytes of tensors made inside the block and alive together; `peak` is the most there were."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self.known: set[int] = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        given = {t.untyped_storage()._cdata for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)}
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor):
                self.add(tensor.untyped_storage(), given)
        return result

    def add(self, storage: torch.UntypedStorage, given: set[int]) -> None:
        key, size = storage._cdata, storage.nbytes()
        if key in self.known or key in given:
            return
        self.known.add(key)
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self.drop, key, size)

    def drop(self, key: int, size: int) -> None:
        self.known.discard(key)
        self.now -= size
