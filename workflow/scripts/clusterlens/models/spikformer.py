"""Spikformer for small images (Zhou et al. 2022), the spiking model of S Section 5.1, and its ablations.

Everything between two modules is a matrix of rows (T * B * positions, channels), time outermost: convolutions run in
channels-last memory, so that no layer has to rearrange what the one before wrote.
"""

from functools import partial

import torch
from torch import nn

from clusterlens.models import events
from clusterlens.models.neurons import fire, fire_normalised, make_neuron

# Patch size: stages that halve the picture. 4 and 16 as published for small and large images.
POOLED = {1: (), 2: (3,), 4: (2, 3), 8: (0, 1, 2), 16: (0, 1, 2, 3)}


class SpikingNorm(nn.Module):
    """Batch normalisation followed by a neuron, the end of every layer."""

    def __init__(self, channels: int, architecture: dict, learned: bool):
        super().__init__()
        self.time_steps = architecture["time_steps"]
        self.norm = nn.BatchNorm1d(channels)
        self.neuron = make_neuron(architecture, threshold=architecture["threshold"], learned=learned)

    def forward(self, y: torch.Tensor) -> torch.Tensor:  # (T * M, C)
        return fire_normalised(self.norm, self.neuron, y, self.time_steps)


class LinearSpike(nn.Module):
    def __init__(self, inputs: int, outputs: int, architecture: dict, learned: bool):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.spike = SpikingNorm(outputs, architecture, learned)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.spike(events.linear(self.linear, x))


class ConvSpike(nn.Module):
    """3 x 3 convolution, normalisation, neuron and, where asked for, a halving of the picture behind the neuron."""

    def __init__(self, inputs: int, outputs: int, *, pool: bool, architecture: dict, learned: bool):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel_size=3, padding=1, bias=False)
        self.spike = SpikingNorm(outputs, architecture, learned)
        self.pool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1) if pool else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # (T * B, C, H, W), channels last
        y = events.convolution(self.conv, x)
        rows = self.spike(y.permute(0, 2, 3, 1).reshape(-1, y.shape[1]))
        s = rows.view(y.shape[0], y.shape[2], y.shape[3], -1).permute(0, 3, 1, 2)
        return self.pool(s)


class SpikingPatchSplitting(nn.Module):
    """S Section 5.1: hierarchical convolutions with spiking neurons, then a convolution as relative position."""

    def __init__(self, architecture: dict, learned: bool):
        super().__init__()
        D = architecture["embedding_dimension"]
        widths = [3, D // 8, D // 4, D // 2, D]
        pooled = POOLED[architecture["patch_size"]]
        block = partial(ConvSpike, architecture=architecture, learned=learned)
        self.stages = nn.Sequential(*(block(widths[i], widths[i + 1], pool=i in pooled) for i in range(4)))
        self.position = block(D, D, pool=False)

    def forward(self, images: torch.Tensor) -> torch.Tensor:  # (T * B, 3, H, W) -> (T * B, D, h, w)
        x = self.stages(images)
        return x + self.position(x)


class SpikingSelfAttention(nn.Module):
    """Spikes for queries, keys and values; attention without softmax (S Section 3.2).

    Deviation: S writes alpha = LIF(<q, k> / 8). The published code, whose size S Table 1 counts, passes the product
    on without a neuron, and so does this. Queries, keys and values come from one matrix of three times the width, which
    is the same function and the same number of parameters as three matrices.
    """

    def __init__(self, architecture: dict, learned: bool):
        super().__init__()
        D = architecture["embedding_dimension"]
        self.heads, self.scale = architecture["heads"], architecture["attention_scale"]
        self.time_steps = architecture["time_steps"]
        self.qkv = LinearSpike(D, 3 * D, architecture, learned)
        self.neuron = make_neuron(architecture, threshold=architecture["attention_threshold"], learned=learned)
        self.projection = LinearSpike(D, D, architecture, learned)

    def forward(self, x: torch.Tensor, tokens: int) -> torch.Tensor:  # (T * B * N, D)
        q, k, v = self.split(self.qkv(x), tokens)
        y = self.attend(q, k, v)  # (T * B, heads, N, D / heads)
        y = y.transpose(1, 2).reshape(self.time_steps, -1, x.shape[1])
        return self.projection(fire(self.neuron, y).view_as(x))

    def split(self, qkv: torch.Tensor, tokens: int) -> tuple[torch.Tensor, ...]:
        """(T * B * N, 3 D) -> three of (T * B, heads, N, D / heads)."""
        return (
            qkv.view(-1, tokens, 3, self.heads, qkv.shape[1] // (3 * self.heads))
            .permute(2, 0, 3, 1, 4)
            .contiguous()
            .unbind(0)
        )

    def attend(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        # without a softmax in between, (Q K^T) V = Q (K^T V): the same whole numbers, from a smaller matrix in between
        if k.shape[-1] < k.shape[-2]:
            return q @ ((k.transpose(-2, -1) @ v) * self.scale)
        return self.scores(q, k) @ v

    def scores(self, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        # alpha_ij = <q_i, k_j> / 8   (S, below Eq. 8)
        return (q @ k.transpose(-2, -1)) * self.scale

    def maps(self, x: torch.Tensor, tokens: int) -> torch.Tensor:
        """Attention maps averaged over time (S Section 5.4): (T * B * N, D) -> (B, heads, N, N)."""
        q, k, _ = self.split(self.qkv(x), tokens)
        return self.scores(q, k).unflatten(0, (self.time_steps, -1)).mean(0)


class SpikingBlock(nn.Module):
    """x + SSA(x), then x + MLP(x); without skip connections the sums are gone, without MLP its half.

    The published code declares layer norms that it never calls; S Table 1 counts them, so they are declared here too.
    """

    def __init__(self, architecture: dict, *, mlp: bool, skip: bool, learned: bool):
        super().__init__()
        D = architecture["embedding_dimension"]
        hidden = int(D * architecture["mlp_ratio"])
        self.skip = skip
        self.norm1 = nn.LayerNorm(D)
        self.attention = SpikingSelfAttention(architecture, learned)
        self.norm2 = nn.LayerNorm(D) if mlp else None
        self.mlp = nn.Sequential(
            LinearSpike(D, hidden, architecture, learned), LinearSpike(hidden, D, architecture, learned)
        ) if mlp else None  # fmt: skip

    def forward(self, x: torch.Tensor, tokens: int) -> torch.Tensor:
        y = self.attention(x, tokens)
        x = x + y if self.skip else y
        if self.mlp is None:
            return x
        y = self.mlp(x)
        return x + y if self.skip else y


class Spikformer(nn.Module):
    def __init__(self, architecture: dict, *, mlp: bool = True, skip: bool = True, learned: bool = False):
        super().__init__()
        D = architecture["embedding_dimension"]
        self.time_steps = architecture["time_steps"]
        self.tokens = (architecture["image_size"] // architecture["patch_size"]) ** 2
        self.patches = SpikingPatchSplitting(architecture, learned)
        self.blocks = nn.ModuleList(
            SpikingBlock(architecture, mlp=mlp, skip=skip, learned=learned) for _ in range(architecture["depth"])
        )
        self.head = nn.Linear(D, architecture["classes"])
        self.apply(initialise)
        self.to(memory_format=torch.channels_last)

    def embed(self, images: torch.Tensor) -> torch.Tensor:  # (B, 3, H, W) -> (T * B * N, D)
        x = self.patches(images.repeat(self.time_steps, 1, 1, 1).contiguous(memory_format=torch.channels_last))
        return x.permute(0, 2, 3, 1).reshape(-1, x.shape[1])

    def forward(self, images: torch.Tensor) -> torch.Tensor:  # (B, 3, H, W) -> (B, classes)
        x = self.embed(images)
        for block in self.blocks:
            x = block(x, self.tokens)
        x = x.view(self.time_steps, len(images), self.tokens, -1)
        return self.head(x.mean(2).mean(0))

    def attention_maps(self, images: torch.Tensor) -> list[torch.Tensor]:
        """One (B, heads, N, N) per layer, averaged over time."""
        x, maps = self.embed(images), []
        for block in self.blocks:
            maps.append(block.attention.maps(x, self.tokens))
            x = block(x, self.tokens)
        return maps


def initialise(module: nn.Module) -> None:
    """Truncated normal matrices and zero biases, as published; convolutions keep torch's default."""
    if isinstance(module, nn.Linear):
        nn.init.trunc_normal_(module.weight, std=0.02)
        nn.init.zeros_(module.bias)
