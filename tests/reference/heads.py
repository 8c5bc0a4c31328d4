"""Head correlation image by image, pair by pair, with numpy."""

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
