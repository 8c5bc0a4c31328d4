"""Correlation between attention heads, streamed over images or texts (S Section 5.4, T Section 3.1.2)."""

import torch
from torch import Tensor

CHUNK = 4096  # entries of a map whose products are summed in the maps' own precision; the sums are added in float64


def correlations(maps: Tensor) -> Tensor:
    """Pearson's r of every pair of heads' flattened maps: (B, H, N, N) -> (B, H, H), NaN for a map that is constant."""
    flat = maps.flatten(2)  # (B, H, N²)
    batch, heads, entries = flat.shape
    mean = flat.mean(-1, keepdim=True)
    padded = flat.new_zeros(batch, heads, -(-entries // CHUNK) * CHUNK)
    torch.sub(flat, mean, out=padded[..., :entries])
    pieces = padded.unflatten(-1, (-1, CHUNK)).transpose(1, 2).flatten(0, 1)  # (B · chunks, H, CHUNK)
    # r_ab = cov(a, b) / (sigma_a sigma_b), all pairs at once
    product = torch.bmm(pieces, pieces.mT).unflatten(0, (batch, -1)).double().sum(1).cpu()  # (B, H, H)
    square = product.diagonal(dim1=1, dim2=2)  # (B, H)
    # A map of equal numbers keeps a rest of rounding after centring: compare with the size of its entries.
    size = square + entries * mean[..., 0].double().cpu().square()
    sigma = torch.where(square > (16 * torch.finfo(flat.dtype).eps) ** 2 * size, square.sqrt(), torch.nan)
    return (product / (sigma[:, :, None] * sigma[:, None, :])).clamp(-1, 1)


class HeadCorrelation:
    """Pearson's r of every pair of heads' flattened maps, averaged over the images in which both maps vary.

    A constant map has no correlation: in a spiking model a head whose queries or keys stay silent gives all zeros. Such
    heads are left out of the mean and counted in `silent`.
    """

    def __init__(self, heads: int):
        self.total = torch.zeros(heads, heads, dtype=torch.float64)
        self.active_pairs = torch.zeros(heads, heads, dtype=torch.float64)
        self.silent = torch.zeros(heads, dtype=torch.float64)
        self.images = 0

    def add(self, maps: Tensor) -> None:  # (B, heads, N, N)
        r = correlations(maps.double().cpu())
        self.total += r.nan_to_num(0.0).sum(0)
        self.active_pairs += r.isfinite().sum(0)
        self.silent += r.diagonal(dim1=1, dim2=2).isnan().sum(0)
        self.images += len(maps)

    def mean(self) -> Tensor:
        """(heads, heads), NaN for pairs that were never both active."""
        return self.total / torch.where(self.active_pairs > 0, self.active_pairs, torch.nan)

    def off_diagonal(self) -> float:
        """Mean over pairs of different heads; NaN when no pair was ever active."""
        mean = self.mean()
        return float(mean[~torch.eye(len(mean), dtype=torch.bool)].nanmean())

    def pairs(self) -> list[dict]:
        """The mean of every pair, heads numbered from 1."""
        numbered = enumerate(self.mean().tolist(), start=1)
        return [{"head": a, "other": b, "correlation": r} for a, row in numbered for b, r in enumerate(row, start=1)]

    def silent_share(self) -> float:
        """Share of head maps, over heads and images, that were constant."""
        return float(self.silent.mean() / max(self.images, 1))
