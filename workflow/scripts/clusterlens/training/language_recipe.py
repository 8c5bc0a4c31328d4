"""The optimiser of A's language models (A Table 3) and its learning rate by step; the decay is not printed."""

import torch
from timm.optim import param_groups_weight_decay
from timm.scheduler import PolyLRScheduler
from torch import nn


def make_optimizer(model: nn.Module, phase: dict) -> torch.optim.Optimizer:
    """AdamW that decays matrices only: no biases and no norms."""
    groups = param_groups_weight_decay(model, phase["weight_decay"])
    fused = all(parameter.device.type in ("cpu", "cuda") for parameter in model.parameters())
    return torch.optim.AdamW(groups, lr=phase["learning_rate"], fused=fused)


def make_schedule(optimizer: torch.optim.Optimizer, phase: dict, steps: int) -> PolyLRScheduler:
    """Linear warm-up from 0, then linear decay to 0 at the end of all `steps`."""
    warmup = phase["warmup_steps"]
    return PolyLRScheduler(
        optimizer,
        t_initial=max(2, steps - warmup),
        power=1.0,
        warmup_t=warmup,
        warmup_lr_init=0.0,
        warmup_prefix=True,
        t_in_epochs=False,
    )
