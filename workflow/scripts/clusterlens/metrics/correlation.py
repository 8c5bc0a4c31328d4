"""Correlation between attention heads, streamed over images (S Section 5.4)."""

import torch


class HeadCorrelation:
    """Pearson's r of every pair of heads' flattened maps, averaged over the images in which both maps vary.

    A constant map has no correlation: in a spiking model a head whose queries or keys stay silent gives all zeros. Such
    heads are left out of the mean and counted in `silent`.
    """

    def __init__(self, heads: int):
        self.total = torch.zeros(heads, heads, dtype=torch.float64)
        self.pairs = torch.zeros(heads, heads, dtype=torch.float64)
        self.silent = torch.zeros(heads, dtype=torch.float64)
        self.images = 0

    def add(self, maps: torch.Tensor) -> None:  # (B, heads, N, N)
        flat = maps.flatten(2).double().cpu()
        centred = flat - flat.mean(-1, keepdim=True)
        norms = centred.norm(dim=-1)
        # A map of equal numbers keeps a rest of rounding after centring: compare with the size of its entries.
        varies = norms > 1e-9 * flat.norm(dim=-1).clamp(min=1e-300)
        unit = torch.where(varies[..., None], centred / norms.clamp(min=1e-300)[..., None], 0.0)
        # r_ab = cov(a, b) / (sigma_a sigma_b)   (S Section 5.4)
        self.total += (unit @ unit.transpose(1, 2)).sum(0)
        self.pairs += (varies[:, :, None] & varies[:, None, :]).sum(0)
        self.silent += (~varies).sum(0)
        self.images += len(maps)

    def mean(self) -> torch.Tensor:
        """(heads, heads), NaN for pairs that were never both active."""
        return self.total / torch.where(self.pairs > 0, self.pairs, torch.nan)

    def off_diagonal(self) -> float:
        """Mean over pairs of different heads; NaN when no pair was ever active."""
        mean = self.mean()
        return float(mean[~torch.eye(len(mean), dtype=torch.bool)].nanmean())

    def silent_share(self) -> float:
        """Share of head maps, over heads and images, that were constant."""
        return float(self.silent.mean() / max(self.images, 1))
