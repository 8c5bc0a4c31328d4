"""Cross-entropy over a large vocabulary that never holds all logits."""

import torch
from torch import Tensor
from torch.nn.functional import linear

IGNORED = -100  # the target of a token that is not guessed
ROWS = 256  # tokens whose logits are held together


class LinearCrossEntropy(torch.autograd.Function):
    """Mean of −log softmax(W h + b)[target], whose gradient is computed on the way, some tokens at a time."""

    @staticmethod
    def forward(ctx, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, training: bool) -> Tensor:
        device = hidden.device.type
        precision = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else hidden.dtype
        h, w, b = (t.to(precision) for t in (hidden, weight, bias))
        total = bias.new_zeros(())
        by_hidden, by_weight, by_bias = torch.empty_like(h), torch.zeros_like(w), torch.zeros_like(bias)
        with torch.autocast(device, enabled=False):
            for part in (slice(start, start + ROWS) for start in range(0, len(h), ROWS)):
                logits, target = linear(h[part], w, b).to(bias.dtype), targets[part, None]
                wanted, top = logits.gather(1, target), logits.amax(dim=-1, keepdim=True)
                powers = logits.sub_(top).exp_()
                sums = powers.sum(dim=-1, keepdim=True)
                total += (sums.log() + top - wanted).sum()
                if training:
                    # d/dlogits of −log softmax(logits)[target] = softmax(logits) − onehot(target)
                    slope = powers.div_(sums).scatter_add_(1, target, -torch.ones_like(sums))
                    by_bias += slope.sum(dim=0)
                    slope = slope.to(precision)
                    torch.mm(slope, w, out=by_hidden[part])
                    by_weight.addmm_(slope.T, h[part])
        ctx.count = max(len(h), 1)
        ctx.save_for_backward(by_hidden, by_weight, by_bias)
        ctx.inputs = hidden.dtype, weight.dtype, bias.dtype
        return total / ctx.count

    @staticmethod
    def backward(ctx, *grads: Tensor):
        factor = grads[0] / ctx.count
        slopes = zip(ctx.saved_tensors, ctx.inputs, strict=True)
        return *(slope.to(dtype) * factor for slope, dtype in slopes), None, None


def linear_cross_entropy(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """The mean cross-entropy of the targets (n,) under the logits W h + b, h being the rows of `hidden`; 0 if n = 0."""
    training = torch.is_grad_enabled() and any(t.requires_grad for t in (hidden, weight, bias))
    return LinearCrossEntropy.apply(hidden, weight, bias, targets, training)
