"""Animations of particle runs: one figure whose artists move, projected by hand so that a frame costs milliseconds."""

import os
from collections.abc import Iterator
from itertools import combinations

import imageio_ffmpeg
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from PIL import Image
from scipy.spatial import ConvexHull, KDTree

from clusterlens.figures import style
from clusterlens.figures.particle_panels import FilmPanel, limits_of, shown_path
from clusterlens.files import replacing
from clusterlens.particles.runs import Run

PIXELS = 420  # side of one panel
SECONDS = 6.0  # length of an animation, whatever its number of frames
TRAIL_STEPS = 25
COLOURS = 128  # of a GIF


class Panel:
    """One run in one square: tokens, recent trails and start; on the sphere its wires, and the hull if asked."""

    def __init__(self, axis, run: Run, panel: FilmPanel):
        self.run, self.axis, self.title = run, axis, panel.title
        self.path = shown_path(run)
        self.solid = self.path.shape[2] == 3
        if run.on_sphere:
            reach = 1.12
        else:
            limits = limits_of(self.path, margin=0.04, equal=panel.equal)
            self.path = (self.path - limits.mean(1)) * 2 / np.ptp(limits, axis=1)
            reach = 1.25 if self.solid else 1.0
        axis.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        axis.set_axis_off()
        self.wires = axis.add_collection(LineCollection([], colors=style.GREY, linewidths=0.4, alpha=0.5))
        self.trails = axis.add_collection(LineCollection([], colors=panel.colour, linewidths=0.6, alpha=0.45))
        self.hull = axis.add_collection(LineCollection([], colors=style.BLACK, linewidths=0.7, alpha=0.55, zorder=2))
        self.with_hull = panel.hull
        start = {"facecolors": "none", "edgecolors": style.GREY, "linewidths": 0.6, "zorder": 1}
        self.start = axis.scatter(*np.zeros((2, self.path.shape[1])), s=12, **start)
        axis.text(0.02, 0.01, "○ start", transform=axis.transAxes, color=style.GREY, fontsize=9)
        others = self.path.shape[1] - 1
        colours = [panel.colour] * others + [style.RED if panel.first else panel.colour]
        sizes = [20] * others + [46 if panel.first else 20]
        self.dots = axis.scatter(
            *np.zeros((2, len(colours))), s=sizes, c=colours, edgecolors="white", linewidths=0.4, zorder=3
        )

    def show(self, progress: float) -> None:
        """Move everything to a share of the run's time."""
        index = round(progress * (len(self.path) - 1))
        turn = np.radians(35 + 50 * progress)
        now = self.path[index]
        self.dots.set_offsets(self.seen(np.roll(now, -1, axis=0), turn))  # the first token in front
        self.start.set_offsets(self.seen(self.path[0], turn))
        if self.with_hull:
            self.hull.set_segments(self.seen(hull_edges(now), turn))
        trail = self.path[max(0, index - TRAIL_STEPS) : index + 1]
        self.trails.set_segments(list(self.seen(trail, turn).transpose(1, 0, 2)) if len(trail) > 1 else [])
        if self.run.on_sphere:
            self.wires.set_segments([self.seen(wire, turn) for wire in wires(self.path.shape[2])])
        self.axis.set_title(f"{self.title}  t = {self.run.times[index]:.1f}".strip(), fontsize=11)

    def seen(self, places: np.ndarray, turn: float, tilt: float = np.radians(18)) -> np.ndarray:
        """Places as the eye sees them: turned about the vertical, tilted, without perspective."""
        if not self.solid:
            return places
        across = places[..., 1] * np.cos(turn) - places[..., 0] * np.sin(turn)
        depth = places[..., 0] * np.cos(turn) + places[..., 1] * np.sin(turn)
        return np.stack([across, places[..., 2] * np.cos(tilt) - depth * np.sin(tilt)], axis=-1)


def hull_edges(places: np.ndarray) -> np.ndarray:
    """Edges of the convex hull of places (n, d): (edges, 2, d)."""
    simplices = ConvexHull(places, qhull_options="QJ").simplices
    pairs = [simplices[:, list(pair)] for pair in combinations(range(simplices.shape[1]), 2)]
    return places[np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)]


def wires(dimension: int) -> list[np.ndarray]:
    """The unit circle, or parallels and meridians of the unit sphere."""
    turn = np.linspace(0, 2 * np.pi, 61)
    if dimension == 2:
        return [np.stack([np.cos(turn), np.sin(turn)], 1)]
    around = [
        np.stack([np.cos(a) * np.cos(turn), np.cos(a) * np.sin(turn), np.full(61, np.sin(a))], 1)
        for a in (-0.9, -0.45, 0, 0.45, 0.9)
    ]
    return around + [
        np.stack([np.cos(a) * np.cos(turn), np.sin(a) * np.cos(turn), np.sin(turn)], 1)
        for a in np.arange(6) * np.pi / 6
    ]


def frames(runs: list[Run], film: tuple[FilmPanel, ...], count: int) -> Iterator[np.ndarray]:
    """RGB pictures of the film's runs side by side, from start to end."""
    with plt.rc_context({"figure.constrained_layout.use": False}):
        figure, axes = plt.subplots(
            1, len(film), figsize=(PIXELS / 100 * len(film), PIXELS / 100), dpi=100, squeeze=False
        )
    figure.subplots_adjust(0.01, 0.01, 0.99, 0.92, wspace=0.02)
    panels = [Panel(axis, runs[panel.index], panel) for axis, panel in zip(axes.flat, film, strict=True)]
    for index in range(count):
        for panel in panels:
            panel.show(index / (count - 1))
        figure.canvas.draw()
        yield np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()
    plt.close(figure)


def cells_of(picture: np.ndarray) -> np.ndarray:
    """The cell of every pixel among 32 x 32 x 32 colours."""
    red, green, blue = np.moveaxis(picture >> 3, -1, 0).astype(np.int32)
    return red << 10 | green << 5 | blue


def shared_palette(cells: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """White and the colours of all pictures, each counted once however few pixels have it; the colour of each cell."""
    grid = np.rint(np.indices((32, 32, 32)).reshape(3, -1).T * (255 / 31)).astype(np.uint8)
    present = np.unique(np.concatenate([np.unique(one) for one in cells]))
    found = Image.fromarray(grid[present][None]).quantize(COLOURS - 1, method=Image.Quantize.MEDIANCUT).getpalette()
    palette = np.array([255, 255, 255, *(found or [])[: 3 * (COLOURS - 1)]], dtype=np.uint8).reshape(-1, 3)
    nearest = np.zeros(len(grid), dtype=np.uint8)
    nearest[present] = KDTree(palette).query(grid[present])[1]
    return palette, nearest


def write_gif(path: str | os.PathLike, pictures: list[np.ndarray]) -> None:
    """An endless GIF whose frames share one palette, so that unchanged pixels cost nothing."""
    cells = [cells_of(picture) for picture in pictures]
    palette, nearest = shared_palette(cells)
    small = [Image.fromarray(nearest[one]) for one in cells]
    for image in small:
        image.putpalette(palette.ravel().tolist())
    with replacing(path) as file:
        duration = int(1000 * SECONDS / len(small))
        small[0].save(file, save_all=True, append_images=small[1:], duration=duration, loop=0, optimize=False)


def write_mp4(path: str | os.PathLike, pictures: list[np.ndarray]) -> None:
    """An H.264 film, with the ffmpeg that comes inside imageio-ffmpeg."""
    height, width = pictures[0].shape[:2]
    with replacing(path) as file:
        options = {"codec": "libx264", "macro_block_size": 2, "output_params": ["-threads", "1"]}
        writer = imageio_ffmpeg.write_frames(str(file), (width, height), fps=len(pictures) / SECONDS, **options)
        writer.send(None)
        for picture in pictures:
            writer.send(np.ascontiguousarray(picture))
        writer.close()
