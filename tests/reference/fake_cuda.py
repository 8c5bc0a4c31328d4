"""A pretended GPU: tensors on `cuda` are torch's fake ones, without values; those on the CPU are real.

FakeTensorMode knows torch's own rules for devices, so that an operation between the two fails as on a card; the rule
for the types of a product is added. What would need values is answered: a number read from the card is the one asked
for, a tensor brought back to the CPU holds ones, and a search finds the first axis.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._pytree import tree_leaves

aten = torch.ops.aten
ONE_TYPE = {  # operations whose floating-point tensors must share a type
    *(aten.mm, aten.bmm, aten.addmm, aten.baddbmm, aten.addbmm, aten.convolution, aten.dot, aten.mv),
    *(aten.index_copy, aten.index_add, aten.index_put, aten.index_put_, aten.scatter, aten.scatter_add),
}
COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
MOVE = torch.nn.Module.to
PYTHON = {torch.bool: bool, torch.float16: float, torch.bfloat16: float, torch.float32: float, torch.float64: float}


class PretendedCard(FakeTensorMode):
    avoid_device_init = True  # there is no driver, whatever `is_available` says

    def __init__(self, *, number: int):
        super().__init__(allow_non_fake_inputs=True)
        self.number = number

    def dispatch(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        leaves = tree_leaves((args, kwargs))
        devices = {leaf.type for leaf in leaves if isinstance(leaf, torch.device)}
        if "cuda" not in devices and not any(isinstance(leaf, FakeTensor) for leaf in leaves):
            return func(*args, **kwargs)
        if func.namespace == "aten" and func.has_kernel_for_dispatch_key(COMPOSITE):  # whole in inference mode only
            with self:
                return func.decompose(*args, **kwargs)
        refuse_mixed_types(func, leaves)
        if func is aten._local_scalar_dense.default:
            return PYTHON.get(args[0].dtype, int)(self.number)
        if func is aten.nonzero.default:
            with self:
                return args[0].new_empty(*args[0].shape[:1], args[0].ndim, dtype=torch.long)
        if func is aten.index.Tensor:
            with self:
                args = (args[0], [places for index in args[1] for places in places_of(index)])
        if func is aten._to_copy.default and "cpu" in devices:
            return torch.ones(args[0].shape, dtype=kwargs.get("dtype") or args[0].dtype)
        if func is aten.copy_.default and type(args[0]) is torch.Tensor:
            return args[0].fill_(1)
        return super().dispatch(func, types, args, kwargs)


def refuse_mixed_types(func, leaves: list) -> None:
    types = {leaf.dtype for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()}
    if func.overloadpacket in ONE_TYPE and len(types) > 1:
        raise RuntimeError(f"{func}: expected one dtype, found {sorted(map(str, types))}")


def places_of(index):
    """A mask as the positions that it chooses, as torch itself reads it."""
    if isinstance(index, torch.Tensor) and index.dtype in (torch.bool, torch.uint8):
        return index.nonzero().unbind(1)
    return [index]


def backward(loss: torch.Tensor) -> None:
    """Give each parameter behind the loss a gradient: torch's engine would ask the driver for a stream."""
    found, waiting = set(), [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in found:
            continue
        found.add(node)
        waiting += [parent for parent, _ in node.next_functions]
        if hasattr(node, "variable"):
            node.variable.grad = torch.zeros_like(node.variable)


def to(module: torch.nn.Module, *args, **options) -> torch.nn.Module:
    """Move a module and keep shared weights shared: a fake tensor cannot take the place of a real one's memory."""
    owners: dict[int, list] = {}
    for part in module.modules():
        for name, parameter in part._parameters.items():
            owners.setdefault(id(parameter), []).append((part, name))
    MOVE(module, *args, **options)
    for (first, name), *others in owners.values():
        for part, same in others:
            part._parameters[same] = first._parameters[name]
    return module


@contextmanager
def pretended_card(*, number: int = 1) -> Iterator[torch.device]:
    """Inside, torch believes in a card; `number` is what every number read from it is."""
    with ExitStack() as stack:
        for name in ("is_available", "get_device_name"):
            stack.enter_context(patch(f"torch.cuda.{name}", return_value="pretended"))
        stack.enter_context(patch("torch.Tensor.backward", backward))
        stack.enter_context(patch("torch.nn.Module.to", to))
        stack.enter_context(PretendedCard(number=number))
        yield torch.device("cuda")
