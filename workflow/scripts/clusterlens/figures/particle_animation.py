"""Animations of particle runs: one figure whose artists move, projected by hand so that a frame costs milliseconds."""

import os
from collections.abc import Iterator

import imageio_ffmpeg
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from PIL import Image

from clusterlens.figures import style
from clusterlens.figures.particle_panels import FilmPanel, limits_of, shown_path
from clusterlens.files import replacing
from clusterlens.particles.runs import Run

PIXELS = 420  # side of one panel
SECONDS = 6.0  # length of an animation, whatever its number of frames
TRAIL_STEPS = 25


class Panel:
    """One run in one square: tokens, their recent trails and, on the sphere, the wires around which the view turns."""

    def __init__(self, axis, run: Run, panel: FilmPanel):
        self.run, self.axis, self.title = run, axis, panel.title
        self.path = shown_path(run)
        self.solid = self.path.shape[2] == 3
        if run.on_sphere:
            self.centre, reach = np.zeros(self.path.shape[2]), 1.12
        else:
            limits = limits_of(self.path, margin=0.04)
            self.centre, reach = limits.mean(1), np.ptp(limits[0]) / 2 * (1.25 if self.solid else 1)
        axis.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        axis.set_axis_off()
        self.wires = axis.add_collection(LineCollection([], colors=style.GREY, linewidths=0.4, alpha=0.5))
        self.trails = axis.add_collection(LineCollection([], colors=panel.colour, linewidths=0.6, alpha=0.45))
        others = self.path.shape[1] - 1
        colours = [style.RED if panel.first else panel.colour] + [panel.colour] * others
        sizes = [46 if panel.first else 20] + [20] * others
        self.dots = axis.scatter(
            *np.zeros((2, len(colours))), s=sizes, c=colours, edgecolors="white", linewidths=0.4, zorder=3
        )

    def show(self, progress: float) -> None:
        """Move everything to a share of the run's time."""
        index = round(progress * (len(self.path) - 1))
        turn = np.radians(35 + 50 * progress)
        self.dots.set_offsets(self.seen(self.path[index], turn))
        trail = self.path[max(0, index - TRAIL_STEPS) : index + 1]
        self.trails.set_segments(list(self.seen(trail, turn).transpose(1, 0, 2)) if len(trail) > 1 else [])
        if self.run.on_sphere:
            self.wires.set_segments([self.seen(wire, turn) for wire in wires(self.path.shape[2])])
        self.axis.set_title(f"{self.title}  t = {self.run.times[index]:.1f}".strip(), fontsize=11)

    def seen(self, places: np.ndarray, turn: float, tilt: float = np.radians(18)) -> np.ndarray:
        """Places as the eye sees them: turned about the vertical, tilted, without perspective."""
        places = places - self.centre
        if not self.solid:
            return places
        across = places[..., 1] * np.cos(turn) - places[..., 0] * np.sin(turn)
        depth = places[..., 0] * np.cos(turn) + places[..., 1] * np.sin(turn)
        return np.stack([across, places[..., 2] * np.cos(tilt) - depth * np.sin(tilt)], axis=-1)


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


def write_gif(path: str | os.PathLike, pictures: list[np.ndarray]) -> None:
    """An endless GIF whose frames share the palette of the last picture."""
    images = [Image.fromarray(picture) for picture in pictures]
    palette = images[-1].quantize(64)
    small = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
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
