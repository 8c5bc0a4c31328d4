"""ViT, the plain model of S Section 5.1: timm's, with blocks for the two ablations."""

from functools import partial

import torch
from timm.models.vision_transformer import Block, VisionTransformer
from torch import nn

# timm's norm as torch's own class: thop counts no other, and S Table 1 is met only if it counts the norms.
NORM = partial(nn.LayerNorm, eps=1e-6)


class NoMlpBlock(Block):
    """x + Attention(LayerNorm(x)): neither MLP nor the norm before it."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        del self.norm2, self.mlp

    def forward(self, x: torch.Tensor, attn_mask=None, is_causal: bool = False) -> torch.Tensor:
        return x + self.attn(self.norm1(x), attn_mask=attn_mask, is_causal=is_causal)


class NoSkipBlock(Block):
    """MLP(LayerNorm(Attention(LayerNorm(x)))): the sums are gone."""

    def forward(self, x: torch.Tensor, attn_mask=None, is_causal: bool = False) -> torch.Tensor:
        x = self.attn(self.norm1(x), attn_mask=attn_mask, is_causal=is_causal)
        return self.mlp(self.norm2(x))


class ViT(VisionTransformer):
    """timm's VisionTransformer. The ablated ones have no bias in qkv: only so are the sizes those of S Table 1."""

    def __init__(self, architecture: dict, *, mlp: bool = True, skip: bool = True):
        super().__init__(
            img_size=architecture["image_size"],
            patch_size=architecture["patch_size"],
            num_classes=architecture["classes"],
            embed_dim=architecture["embedding_dimension"],
            depth=architecture["depth"],
            num_heads=architecture["heads"],
            mlp_ratio=architecture["mlp_ratio"],
            qkv_bias=mlp and skip,
            norm_layer=NORM,
            block_fn=NoMlpBlock if not mlp else Block if skip else NoSkipBlock,
        )

    def attention_maps(self, images: torch.Tensor) -> list[torch.Tensor]:
        """The softmax maps of every layer, (B, heads, N + 1, N + 1) with the class token first."""
        x = self.norm_pre(self.patch_drop(self._pos_embed(self.patch_embed(images))))
        maps = []
        for block in self.blocks:
            attention, y = block.attn, block.norm1(x)
            q, k, _ = attention.qkv(y).unflatten(2, (3, attention.num_heads, -1)).permute(2, 0, 3, 1, 4)
            # alpha_ij = softmax_j(<Q(x_i), K(x_j)> / sqrt(k))   (S Appendix A.1, Eq. 2)
            maps.append((q * attention.scale @ k.transpose(-2, -1)).softmax(-1))
            x = block(x)
        return maps
