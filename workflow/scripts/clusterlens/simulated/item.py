"""What belongs to one simulated item."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from matplotlib.figure import Figure

from clusterlens.errors import choose
from clusterlens.figures.particle_panels import FilmPanel
from clusterlens.particles.numbers import settings_numbers, snapshot_numbers
from clusterlens.particles.runs import Run


@dataclass(frozen=True)
class SimulatedItem:
    """The drawing of an item, the tables of its numbers, and the panels of its film and turnable view."""

    draw: Callable[[list[Run]], Figure]
    tables: tuple[Callable[[list[Run]], list[dict]], ...] = (snapshot_numbers,)
    film: tuple[FilmPanel, ...] = ()

    def numbers(self, runs: list[Run]) -> list[dict]:
        """The numbers by which the item's claims are judged: its settings, then its tables."""
        return [row for table in (settings_numbers, *self.tables) for row in table(runs)]


def find(paper: str, name: str) -> SimulatedItem:
    """One item, importing the module of its paper alone."""
    return choose("simulated item", name, import_module(f"clusterlens.simulated.{paper}").ITEMS)
