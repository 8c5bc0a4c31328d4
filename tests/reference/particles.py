"""The particle fields as triple loops over numbers, straight from the papers."""

import math

import numpy as np
from scipy.linalg import expm


def logit(q, k, x_i, x_j, beta):
    return beta * sum((q @ x_i)[c] * (k @ x_j)[c] for c in range(len(x_i)))


def attention(x, q, k, v, beta, *, causal=False):
    """T §2.4 and Eq. 3 for heads q, k, v of shape (H, d, d)."""
    n, d = x.shape
    u = np.zeros((n, d))
    for head in range(len(q)):
        for i in range(n):
            seen = range(i + 1) if causal else range(n)
            logits = [logit(q[head], k[head], x[i], x[j], beta) for j in seen]
            weights = [math.exp(value - max(logits)) for value in logits]
            for weight, j in zip(weights, seen, strict=True):
                u[i] += weight / sum(weights) * (v[head] @ x[j])
    return u


def unnormalised(x, q, k, v, beta):
    n, d = x.shape
    u = np.zeros((n, d))
    for head in range(len(q)):
        for i in range(n):
            for j in range(n):
                u[i] += math.exp(logit(q[head], k[head], x[i], x[j], beta)) * (v[head] @ x[j]) / n
    return u


def ssa_soft(x, beta, tau, threshold):
    eye = np.eye(x.shape[1])[None]
    mean = attention(x, eye, eye, eye, beta)
    return np.array([[1 / (1 + math.exp(-tau * (value - threshold))) for value in row] for row in mean])


def ssa_hard(x, beta, threshold):
    def lif(u):
        return 1.0 if u >= threshold else 0.0

    n, d = x.shape
    norm = np.linalg.norm(beta * x, axis=1)
    spikes = [[lif(beta * x[i][c] / norm[i]) for c in range(d)] for i in range(n)]
    out = x.copy()
    for i in range(n):
        total = [0.0] * d
        for j in range(n):
            alpha = lif(sum(spikes[i][c] * spikes[j][c] for c in range(d)) / 8)
            for c in range(d):
                total[c] += alpha * spikes[j][c]
        fired = np.array([lif(beta * value) for value in total])
        if fired.any():
            out[i] = fired / np.linalg.norm(fired)
    return out


def rescaled_attention(t, z, q, k, v):
    """P(t) and the differences sum_j P_ij (z_j - z_i) of the rescaled flow."""
    grown = expm(t * v)
    n = len(z)
    total = np.zeros_like(z)
    for i in range(n):
        logits = [logit(q, k, grown @ z[i], grown @ z[j], 1.0) for j in range(n)]
        weights = [math.exp(value - max(logits)) for value in logits]
        for j in range(n):
            total[i] += weights[j] / sum(weights) * (z[j] - z[i])
    return total


def rescaled(t, z, q, k, v):
    return np.array([v @ row for row in rescaled_attention(t, z, q, k, v)])


def rescaled_mlp(t, z, q, k, v, w):
    return np.array([w @ np.maximum(row, 0) for row in rescaled_attention(t, z, q, k, v)])
