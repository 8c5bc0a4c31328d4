"""Head correlation and token similarity image by image, pair by pair, with numpy."""

import numpy as np


def mean_correlation(maps: np.ndarray) -> np.ndarray:
    """(images, heads, N, N) -> (heads, heads): mean of np.corrcoef over images in which both maps vary."""
    images, heads = maps.shape[:2]
    result = np.full((heads, heads), np.nan)
    for a in range(heads):
        for b in range(heads):
            values = []
            for image in range(images):
                x, y = maps[image, a].ravel(), maps[image, b].ravel()
                if x.std() > 0 and y.std() > 0:
                    values.append(np.corrcoef(x, y)[0, 1])
            if values:
                result[a, b] = np.mean(values)
    return result


def token_similarity(tokens: np.ndarray) -> tuple[float, float, float]:
    """(images, N, D) -> mean cosine of pairs, effective rank and share of silent tokens, each a mean over images."""
    cosines, ranks, silent = [], [], []
    for image in tokens:
        active = [x for x in image if np.linalg.norm(x) > 0]
        pairs = [(a, b) for i, a in enumerate(active) for j, b in enumerate(active) if i != j]
        if pairs:
            cosines.append(np.mean([a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in pairs]))
        if active:
            eigenvalues = np.linalg.eigvalsh(np.array(active).T @ np.array(active))
            share = eigenvalues[eigenvalues > 1e-14] / eigenvalues.sum()
            ranks.append(np.exp(-(share * np.log(share)).sum()))
        silent.append(1 - len(active) / len(image))
    return np.mean(cosines), np.mean(ranks), np.mean(silent)
