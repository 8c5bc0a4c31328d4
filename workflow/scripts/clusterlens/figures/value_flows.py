"""Value spectra of trained heads in the complex plane, and flows under these heads on principal axes (E's slides)."""

import numpy as np
from matplotlib.figure import Figure

from clusterlens.figures import style
from clusterlens.figures.emergence_heads import nearest_curves
from clusterlens.figures.particle_panels import band, limits_of, page, plane_panel, recent, space_panel
from clusterlens.particles.runs import Run


def plot_spectra(eigenvalues: np.ndarray, *, columns: int = 4) -> Figure:
    """One panel per head, numbered from 1 as on the slides; the leading eigenvalue is red."""
    rows = -(-len(eigenvalues) // columns)
    figure, axes = style.new_figure(rows, columns, height=1.35 * rows + 0.4, sharex=True, sharey=True)
    for head, (axis, found) in enumerate(zip(axes, eigenvalues, strict=False), start=1):
        axis.axhline(0, color=style.GREY, linewidth=0.3)
        axis.axvline(0, color=style.GREY, linewidth=0.3)
        axis.scatter(found.real, found.imag, s=3, color=style.BLUE, linewidths=0)
        axis.scatter(found[:1].real, found[:1].imag, s=9, color=style.RED, linewidths=0)
        axis.set_title(f"head {head}", pad=2)
    for axis in axes[len(eigenvalues) :]:
        axis.remove()
    for axis in axes[max(0, len(eigenvalues) - columns) : len(eigenvalues)]:
        axis.set_xlabel("Re λ")
    for axis in axes[::columns]:
        axis.set_ylabel("Im λ")
    return figure


def head_flow(runs: list[Run]) -> Figure:
    """Tokens on two principal axes at the snapshots, on three at the end, and how far they have clustered."""
    trained = runs[0]
    figure, upper, lower = page(height=4.0, shares=(1, 1.05))
    limits = limits_of(trained.path[..., :2])
    for axis, t in zip(upper.subplots(1, len(trained.snapshots)), trained.snapshots, strict=True):
        plane_panel(
            axis, recent(trained, trained.path[..., :2], t), colour=style.BLUE, title=f"t = {t:g}", limits=limits
        )
    upper.suptitle(about(trained), fontsize=7)
    axes = [lower.add_subplot(1, 4, 1, projection="3d"), *(lower.add_subplot(1, 4, place) for place in (2, 3, 4))]
    end = f"t = {trained.times[-1]:g}, three axes"
    whole = limits_of(trained.path, margin=0.0)
    space_panel(axes[0], recent(trained, trained.path, trained.times[-1]), colour=style.BLUE, title=end, limits=whole)
    for run, colour in zip(runs, (style.BLUE, style.ORANGE), strict=False):
        label = run.label if len(runs) > 1 else ""
        band(axes[1], run.times, run.order["places"], colour=colour, label=label, bounds=(1, np.inf))
        band(axes[2], run.times, run.order["merged_places"], colour=colour, bounds=(0, 1))
        nearest_curves(axes[3], run, colour=colour)
    axes[1].set(ylabel="clusters", ylim=(0, None))
    axes[2].set(ylabel="share of\nmerged pairs", ylim=(0, 1.02))
    if len(runs) > 1:
        axes[1].legend()
    return figure


def about(run: Run) -> str:
    """Which heads and tokens, and what the two axes hold."""
    which = f"head {run.settings['head']}" if run.settings["head"] else f"{run.settings['heads']} heads"
    share = 100 * sum(run.settings["shares"][:2])
    return (
        f"{which}, {run.path.shape[1]} tokens in {run.settings['dimension']} dimensions; "
        f"{share:.0f} % of the variance on two principal axes"
    )


def plot_sum(single: np.ndarray, total: np.ndarray, random: np.ndarray) -> Figure:
    """Spectra of the single heads, of their sum, and of the sum of Gaussian heads of the same size."""
    figure, axes = style.new_figure(1, 3, height=2.4, sharex=True, sharey=True)
    for axis, title, found, colour in (
        (axes[0], f"{len(single)} heads", single.ravel(), style.GREY),
        (axes[1], "their sum", total, style.BLUE),
        (axes[2], "sum of random heads", random, style.ORANGE),
    ):
        axis.axhline(0, color=style.GREY, linewidth=0.3)
        axis.axvline(0, color=style.GREY, linewidth=0.3)
        axis.scatter(found.real, found.imag, s=3, color=colour, linewidths=0)
        lead = found[found.real.argmax()]
        axis.scatter(lead.real, lead.imag, s=9, color=style.RED, linewidths=0)
        axis.set(title=title, xlabel="Re λ")
    axes[0].set_ylabel("Im λ")
    style.letter(axes)
    return figure
