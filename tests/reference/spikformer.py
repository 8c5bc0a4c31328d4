"""Spikformer as its publication reads: one module per operation, spikingjelly's own neurons, time looped step by step.

Slow and obvious on purpose; `models/spikformer.py` is compared with it by value, gradient, time and memory.
"""

import torch
from spikingjelly.activation_based import functional, neuron, surrogate
from torch import nn


def spiking_neuron(architecture: dict, *, threshold: str = "threshold", learned: bool = False) -> nn.Module:
    tau = float(architecture["membrane_time_constant"])
    shared = {
        "v_threshold": float(architecture[threshold]),
        "detach_reset": True,
        "surrogate_function": surrogate.Sigmoid(alpha=architecture["surrogate_slope"]),
    }
    return neuron.ParametricLIFNode(init_tau=tau, **shared) if learned else neuron.LIFNode(tau=tau, **shared)


def through_time(node: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Feed a sequence (T, B, ...) to a single-step neuron, one step after the other."""
    return torch.stack([node(step) for step in x])


class LinearNormSpike(nn.Module):
    def __init__(self, inputs: int, outputs: int, architecture: dict, learned: bool):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.norm = nn.BatchNorm1d(outputs)
        self.lif = spiking_neuron(architecture, learned=learned)

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # (T, B, N, D)
        T, B, N, _ = x.shape
        y = self.linear(x.flatten(0, 1))
        y = self.norm(y.transpose(-1, -2)).transpose(-1, -2)
        return through_time(self.lif, y.reshape(T, B, N, -1).contiguous())


class ConvNormSpike(nn.Module):
    def __init__(self, inputs: int, outputs: int, pool: bool, architecture: dict, learned: bool):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel_size=3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)
        self.lif = spiking_neuron(architecture, learned=learned)
        self.pool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1) if pool else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # (T, B, C, H, W)
        T, B = x.shape[:2]
        y = self.norm(self.conv(x.flatten(0, 1)))
        s = through_time(self.lif, y.reshape(T, B, *y.shape[1:]).contiguous())
        if self.pool is None:
            return s
        s = self.pool(s.flatten(0, 1))
        return s.reshape(T, B, *s.shape[1:]).contiguous()


class Attention(nn.Module):
    def __init__(self, architecture: dict, learned: bool):
        super().__init__()
        D = architecture["embedding_dimension"]
        self.heads, self.scale = architecture["heads"], architecture["attention_scale"]
        self.q, self.k, self.v = (LinearNormSpike(D, D, architecture, learned) for _ in range(3))
        self.attn_lif = spiking_neuron(architecture, threshold="attention_threshold", learned=learned)
        self.proj = LinearNormSpike(D, D, architecture, learned)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        T, B, N, D = x.shape

        def split(y):
            return y.reshape(T, B, N, self.heads, D // self.heads).permute(0, 1, 3, 2, 4).contiguous()

        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        attn = (q @ k.transpose(-2, -1)) * self.scale
        y = (attn @ v).transpose(2, 3).reshape(T, B, N, D).contiguous()
        return self.proj(through_time(self.attn_lif, y))


class Block(nn.Module):
    def __init__(self, architecture: dict, mlp: bool, skip: bool, learned: bool):
        super().__init__()
        D = architecture["embedding_dimension"]
        hidden = int(D * architecture["mlp_ratio"])
        self.skip = skip
        self.norm1 = nn.LayerNorm(D)  # declared by the published code, never called
        self.attn = Attention(architecture, learned)
        if mlp:
            self.norm2 = nn.LayerNorm(D)
            self.mlp = nn.Sequential(
                LinearNormSpike(D, hidden, architecture, learned), LinearNormSpike(hidden, D, architecture, learned)
            )
        else:
            self.mlp = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(x) if self.skip else self.attn(x)
        if self.mlp is None:
            return x
        return x + self.mlp(x) if self.skip else self.mlp(x)


class PlainSpikformer(nn.Module):
    def __init__(self, architecture: dict, *, mlp: bool = True, skip: bool = True, learned: bool = False):
        super().__init__()
        D = architecture["embedding_dimension"]
        self.T = architecture["time_steps"]
        widths = [3, D // 8, D // 4, D // 2, D]
        self.stages = nn.ModuleList(
            ConvNormSpike(widths[i], widths[i + 1], i >= 2, architecture, learned) for i in range(4)
        )
        self.rpe = ConvNormSpike(D, D, False, architecture, learned)
        self.blocks = nn.ModuleList(Block(architecture, mlp, skip, learned) for _ in range(architecture["depth"]))
        self.head = nn.Linear(D, architecture["classes"])

    def forward(self, images: torch.Tensor) -> torch.Tensor:  # (B, 3, H, W)
        functional.reset_net(self)
        x = images.unsqueeze(0).repeat(self.T, 1, 1, 1, 1)
        for stage in self.stages:
            x = stage(x)
        x = x + self.rpe(x)
        x = x.flatten(-2).transpose(-1, -2)  # (T, B, N, D)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(2).mean(0))
