"""The optimiser of S's image models (S Table 4) and its learning rate by epoch."""

import torch
from timm.optim import param_groups_weight_decay
from timm.scheduler import CosineLRScheduler
from torch import nn


def make_optimizer(model: nn.Module, training: dict) -> torch.optim.Optimizer:
    """AdamW that decays matrices only, as timm does: no biases, norms, embeddings or membrane constants."""
    spared = {"pos_embed", "cls_token"}
    groups = param_groups_weight_decay(model, training["weight_decay"], no_weight_decay_list=spared)
    fused = all(parameter.device.type in ("cpu", "cuda") for parameter in model.parameters())
    return torch.optim.AdamW(groups, lr=training["learning_rate"], fused=fused)


def make_schedule(optimizer: torch.optim.Optimizer, training: dict) -> CosineLRScheduler:
    """Linear warm-up, then a cosine over all epochs; `step(epoch)` sets the rate of that epoch, counted from 0."""
    return CosineLRScheduler(
        optimizer,
        t_initial=training["epochs"],
        lr_min=training["minimum_learning_rate"],
        warmup_t=training["warmup_epochs"],
        warmup_lr_init=training["warmup_learning_rate"],
    )
