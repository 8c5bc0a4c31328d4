"""Order parameters of a set of tokens: how many clusters, how tight, how far from the shape that theory predicts.

Every function takes tokens x of shape (..., n, d) and answers for each set, (...). Plain NumPy, no torch.
"""

import numpy as np
from scipy.spatial import ConvexHull, QhullError

CLUSTER_COSINE = 0.99  # two tokens are linked when their cosine exceeds this; a cluster is a connected set of links
CLOSE_COSINE = 0.999  # a pair above this counts as merged (the statistic of the phase diagrams)
PLACE_SHARE = 0.05  # in space two tokens are linked when closer than this share of their root mean square norm
NEAR = 20.0  # degrees from a line or plane within which a token counts as near it
RANK_TOLERANCE = 1e-3  # singular values below this share of the largest do not count towards the rank


def directions(x: np.ndarray) -> np.ndarray:
    """x / |x|, with 0 for the zero vector."""
    norm = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.divide(x, norm, out=np.zeros_like(x), where=norm > 0)


def cosines(x: np.ndarray) -> np.ndarray:
    """All pairwise cosines, (..., n, n)."""
    unit = directions(x)
    return unit @ unit.swapaxes(-1, -2)


def off_diagonal_mean(matrix: np.ndarray) -> np.ndarray:
    """Mean over the pairs i != j; NaN for a single token, which has no pair."""
    n = matrix.shape[-1]
    if n < 2:
        return np.full(matrix.shape[:-2], np.nan)
    return (matrix.sum((-1, -2)) - np.trace(matrix, axis1=-2, axis2=-1)) / (n * (n - 1))


def mean_cosine(x: np.ndarray) -> np.ndarray:
    return off_diagonal_mean(cosines(x))


def close_pairs(x: np.ndarray, *, threshold: float = CLOSE_COSINE) -> np.ndarray:
    """Share of pairs whose cosine exceeds the threshold."""
    return off_diagonal_mean((cosines(x) > threshold).astype(float))


def components(linked: np.ndarray) -> np.ndarray:
    """Label of every token's connected component, the smallest index in it: (..., n, n) -> (..., n).

    Each token takes the smallest label among its links until nothing changes.
    """
    n = linked.shape[-1]
    linked = linked | np.eye(n, dtype=bool)
    label = np.broadcast_to(np.arange(n), linked.shape[:-1])
    while True:
        lower = np.where(linked, label[..., None, :], n).min(-1)
        lower = np.take_along_axis(lower, lower, -1)
        if (lower == label).all():
            return label
        label = lower


def direction_labels(x: np.ndarray, *, threshold: float = CLUSTER_COSINE) -> np.ndarray:
    """Cluster of every token by direction: components of the graph of pairs with cosine above the threshold."""
    return components(cosines(x) > threshold)


def place_labels(x: np.ndarray, *, share: float = PLACE_SHARE) -> np.ndarray:
    """Cluster of every token by place: components of pairs closer than `share` of the root mean square norm."""
    return components(scaled_distances(x) <= share)


def count(labels: np.ndarray, *, members: int = 1) -> np.ndarray:
    """Number of clusters of at least so many tokens: a component's smallest member carries its own index as label."""
    return ((labels[..., None] == np.arange(labels.shape[-1])).sum(-2) >= members).sum(-1)


def distances(x: np.ndarray) -> np.ndarray:
    """All pairwise Euclidean distances, (..., n, n)."""
    squares = np.zeros((*x.shape[:-1], x.shape[-2]))
    for along in np.moveaxis(x, -1, 0):  # coordinate by coordinate: no array of n x n x d
        squares += (along[..., :, None] - along[..., None, :]) ** 2
    return np.sqrt(squares)


def scaled_distances(x: np.ndarray) -> np.ndarray:
    """All pairwise distances over the root mean square norm of the tokens, so that growth alone changes nothing."""
    size = np.sqrt((x**2).sum(-1).mean(-1))
    return distances(x) / np.where(size > 0, size, 1)[..., None, None]


def pair_distance(x: np.ndarray) -> np.ndarray:
    """Mean distance of two tokens, without growth."""
    return off_diagonal_mean(scaled_distances(x))


def nearest_distance(x: np.ndarray) -> np.ndarray:
    """Mean distance from a token to its nearest neighbour, without growth; NaN for a single token."""
    return nearest_mean(scaled_distances(x))


def nearest_mean(distance: np.ndarray) -> np.ndarray:
    """The mean over rows of the smallest entry off the diagonal, (..., n, n); NaN where n is 1."""
    n = distance.shape[-1]
    if n < 2:
        return np.full(distance.shape[:-2], np.nan)
    return np.where(np.eye(n, dtype=bool), np.inf, distance).min(-1).mean(-1)


def merged_places(x: np.ndarray, *, share: float = PLACE_SHARE) -> np.ndarray:
    """Share of pairs closer than `share` of the root mean square norm."""
    return off_diagonal_mean((scaled_distances(x) <= share).astype(float))


def largest_gap(x: np.ndarray) -> np.ndarray:
    """Largest angle between neighbours on the circle, in degrees; d = 2 only, NaN otherwise."""
    if x.shape[-1] != 2:
        return np.full(x.shape[:-2], np.nan)
    angle = np.sort(np.arctan2(x[..., 1], x[..., 0]), axis=-1)
    around = np.concatenate([angle, angle[..., :1] + 2 * np.pi], axis=-1)
    return np.degrees(np.diff(around, axis=-1).max(-1))


def nearest_angle(x: np.ndarray) -> np.ndarray:
    """Mean angle from a token to its nearest neighbour, in degrees; NaN for a single token."""
    n = x.shape[-2]
    if n < 2:
        return np.full(x.shape[:-2], np.nan)
    other = np.where(np.eye(n, dtype=bool), -1.0, cosines(x))
    return np.degrees(np.arccos(np.clip(other.max(-1), -1, 1))).mean(-1)


def near_line(x: np.ndarray, axis: np.ndarray, *, degrees: float = NEAR) -> np.ndarray:
    """Share of tokens within so many degrees of the line along the unit vector `axis`, (..., d)."""
    return (np.abs((directions(x) * axis[..., None, :]).sum(-1)) > np.cos(np.radians(degrees))).mean(-1)


def near_plane(x: np.ndarray, axis: np.ndarray, *, degrees: float = NEAR) -> np.ndarray:
    """Share of tokens within so many degrees of the plane through the origin normal to the unit vector `axis`."""
    return (np.abs((directions(x) * axis[..., None, :]).sum(-1)) < np.sin(np.radians(degrees))).mean(-1)


def azimuth(x: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Angle of every token about the unit vector `axis` (3,), in degrees, (..., n, 3) -> (..., n); NaN unless d = 3."""
    if x.shape[-1] != 3:
        return np.full(x.shape[:-1], np.nan)
    across = np.linalg.svd(axis[None])[2][1:]
    return np.degrees(np.arctan2(x @ across[1], x @ across[0]))


def received(p: np.ndarray) -> np.ndarray:
    """Attention that every token receives, summed over those that pay it: (..., n, n) -> (..., n)."""
    return p.sum(-2)


def diagonal_cosine(x: np.ndarray) -> np.ndarray:
    """Mean cosine of the tokens with (1, ..., 1)."""
    return directions(x).sum(-1).mean(-1) / np.sqrt(x.shape[-1])


def silhouette(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Mean silhouette (Rousseeuw 1987); NaN unless there are at least two clusters and fewer clusters than tokens."""
    n = x.shape[-2]
    member = labels[..., None] == np.arange(n)  # (..., n, n): token i belongs to cluster c
    size = member.sum(-2).astype(float)  # (..., n)
    total = distances(x) @ member  # (..., n, n): sum of distances from token i to cluster c
    own_size = (member * size[..., None, :]).sum(-1)
    a = (member * total).sum(-1) / np.maximum(own_size - 1, 1)
    other = np.where(member | (size[..., None, :] == 0), np.inf, total / np.maximum(size[..., None, :], 1))
    b = np.minimum(other.min(-1), np.finfo(float).max)
    scale = np.maximum(a, b)
    s = np.where((own_size > 1) & (scale > 0), (b - a) / np.where(scale > 0, scale, 1), 0.0)
    clusters = count(labels)
    return np.where((clusters >= 2) & (clusters < n), s.mean(-1), np.nan)


def matrix_rank(p: np.ndarray, *, tolerance: float = RANK_TOLERANCE) -> np.ndarray:
    """Number of singular values above `tolerance` times the largest."""
    singular = np.linalg.svd(p, compute_uv=False)
    return (singular > tolerance * singular[..., :1]).sum(-1)


def boolean_distance(p: np.ndarray) -> np.ndarray:
    """Largest distance of an entry of P from the nearer of 0 and 1."""
    return np.minimum(p, 1 - p).max((-1, -2))


def first_attention(p: np.ndarray) -> np.ndarray:
    """Mean attention that the tokens after the first pay to the first; NaN for a single token."""
    if p.shape[-1] < 2:
        return np.full(p.shape[:-2], np.nan)
    return p[..., 1:, 0].mean(-1)


def first_cosine(x: np.ndarray) -> np.ndarray:
    """Mean cosine of the first token with the others; NaN for a single token."""
    if x.shape[-2] < 2:
        return np.full(x.shape[:-2], np.nan)
    unit = directions(x)
    return (unit[..., 1:, :] * unit[..., :1, :]).sum(-1).mean(-1)


def hull_vertices(points: np.ndarray) -> np.ndarray:
    """Indices of the vertices of the convex hull of one set (n, d); all points where it is flat or d = 1 has two."""
    if points.shape[1] == 1:
        return np.unique([points[:, 0].argmin(), points[:, 0].argmax()])
    try:
        return np.sort(ConvexHull(points).vertices)
    except (QhullError, ValueError):
        return np.arange(len(points))


def vertex_distance(x: np.ndarray, vertices: list[np.ndarray]) -> np.ndarray:
    """Mean distance of the tokens to the nearest of each set's vertices, over the largest distance between vertices."""
    flat = x.reshape(-1, *x.shape[-2:])
    found = np.empty(len(flat))
    for index, (points, corners) in enumerate(zip(flat, vertices, strict=True)):
        to_corners = np.linalg.norm(points[:, None] - corners[None], axis=-1).min(-1)
        width = distances(corners).max()
        found[index] = to_corners.mean() / width if width > 0 else to_corners.mean()
    return found.reshape(x.shape[:-2])


def heights(x: np.ndarray, covectors: np.ndarray) -> np.ndarray:
    """Coordinates of the tokens along the rows of `covectors`: (..., n, d), (k, d) -> (..., n, k)."""
    return x @ covectors.T


def left_eigenvectors(value: np.ndarray, *, leading: bool) -> np.ndarray:
    """Real left eigenvectors of V, as rows: of the leading eigenvalue alone, or of all with positive real part."""
    eigenvalues, vectors = np.linalg.eig(value.T)
    order = np.argsort(-eigenvalues.real)
    chosen = order[:1] if leading else order[eigenvalues[order].real > 0]
    return np.real(vectors[:, chosen].T)


def plane_distance(height: np.ndarray) -> np.ndarray:
    """Mean distance of heights (..., n) to the nearest of at most three levels, relative to their range.

    The levels are where theory puts the hyperplanes: the lowest height, zero, and the highest.
    """
    low, high = height.min(-1, keepdims=True), height.max(-1, keepdims=True)
    nearest = np.min([np.abs(height - low), np.abs(height - high), np.abs(height)], axis=0).mean(-1)
    width = (high - low)[..., 0]
    return np.divide(nearest, width, out=np.zeros_like(nearest), where=width > 0)


def spread_within(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Root mean square distance of the tokens to the mean of their cluster."""
    member = (labels[..., None, :] == labels[..., :, None]).astype(float)
    centre = member @ x / member.sum(-1, keepdims=True)
    return np.sqrt(((x - centre) ** 2).sum(-1).mean(-1))


def end_of_fall(log: np.ndarray, *, part: float = 0.9) -> int:
    """How many values come until `part` of the whole fall is done; 0 where nothing falls."""
    fall = log[0] - log.min()
    return int((log <= log[0] - part * fall).argmax()) + 1 if fall > 0 else 0


def fitted_rate(t: np.ndarray, y: np.ndarray, *, part: float = 0.9, floor: float = 1e-12) -> tuple[float, float]:
    """Rate r of y ~ e^{-rt} and R² of the fit, from the start until `part` of the whole fall of log y is done.

    What comes after is the plateau that every fall ends in. NaN where y does not fall over at least three times.
    """
    log = np.log(np.maximum(y, floor))
    end = end_of_fall(log, part=part)
    if end < 3:
        return np.nan, np.nan
    t, log = t[:end], log[:end]
    slope, intercept = np.polyfit(t, log, 1)
    residual = log - (slope * t + intercept)
    return float(-slope), float(1 - (residual**2).sum() / ((log - log.mean()) ** 2).sum())
