"""Correlation between attention heads, streamed over images or texts (S Section 5.4, T Section 3.1.2)."""

import torch
from torch import Tensor

CHUNK = 8192  # entries of a map whose products are summed in the maps' own precision; the sums are added in float64


def correlations(maps: Tensor) -> Tensor:
    """Pearson's r of every pair of heads' flattened maps: (B, H, N, N) -> (B, H, H), NaN for a map that is constant."""
    flat = maps.flatten(2)  # (B, H, N²)
    mean = flat.mean(-1, keepdim=True)
    # r_ab = cov(a, b) / (sigma_a sigma_b), all pairs at once, in pieces that stay in the processor's cache
    product = torch.zeros(len(flat), flat.shape[1], flat.shape[1], dtype=torch.float64, device=flat.device)
    for piece in flat.split(CHUNK, dim=-1):
        centred = piece - mean
        product += torch.bmm(centred, centred.mT)
    product = product.cpu()  # (B, H, H)
    square = product.diagonal(dim1=1, dim2=2)  # (B, H)
    # A map of equal numbers keeps a rest of rounding after centring: compare with the size of its entries.
    size = square + flat.shape[-1] * mean[..., 0].double().cpu().square()
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
