"""Whether the simulations of an item can be run and drawn, told from the config alone. No torch.

Figures are made for the runs of the shipped config: their names, their measures, and their dimension if it is drawn.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from clusterlens.errors import UserError, nearest
from clusterlens.particles.settings import FIELDS, Settings, several, simulations, snapshot_indices, within

ANYWHERE = {  # items whose figures do not show where the tokens are
    *("sinks", "phase_diagram", "boolean_matrix", "convergence_rate", "master_equation"),
    *("heads_effect", "start_effect", "tokens_effect"),
}
MOST_NUMBERS = 50_000_000  # of one array: 400 MB in double precision


def undrawable(config: dict, shipped: dict) -> Iterator[str]:
    """Each obstacle as the rest of a line that starts with `config`; `config` and `shipped` are sections of items."""
    for paper, items in shipped.items():
        if isinstance(items, dict):
            for item in filter(config[paper].__contains__, items):
                place = f"key 'simulations/{paper}/{item}"
                try:
                    for key, words in obstacles(item, config[paper][item], items[item]):
                        yield f"{place}/{key}': {words}"
                except UserError as error:
                    yield f"{place}': {error}"


def obstacles(item: str, block: Mapping, shipped: Mapping) -> Iterator[tuple[str, str]]:
    """What is wrong in an item's block, and at which of its keys."""
    yield from unknown_runs(block, shipped)
    for measure in shipped["measures"]:
        if measure not in block["measures"]:
            yield "measures", f"the item shows '{measure}', which is not among {', '.join(block['measures'])}; add it"
    known = dict(simulations(shipped))
    described = dict(simulations(block))
    end = max(settings.time for settings in described.values())
    if max(block["snapshots"]) > end + 1e-9:
        yield "snapshots", f"{max(block['snapshots']):g} is beyond the end, {end:g}; lower it or raise time"
    for label, settings in described.items():
        yield from unfit(item, settings, known.get(label, next(iter(known.values()))), block.get("every", 1))
        times = np.array(settings.kept(block.get("every", 1))) * settings.step
        snapshot_indices(times, within(block["snapshots"], settings))


def unknown_runs(block: Mapping, shipped: Mapping) -> Iterator[tuple[str, str]]:
    """Variants and sweeps other than those that the figure has panels for; a series `key=<number>` may go on."""
    for key, what in (("variants", "variant"), ("sweep", "swept setting")):
        for name in block.get(key) or {}:
            known = shipped.get(key)
            if not known:
                yield key, "the figure of this item is made for none; leave it out and change the item's own settings"
            elif name not in known and not continues(name, known):
                yield key, f"unknown {what} '{name}': {nearest(name, known)}"
    for key, values in (block.get("sweep") or {}).items():
        if key == "threshold" and len(values) > len(shipped["sweep"][key]):
            yield f"sweep/{key}", f"the figure has room for {len(shipped['sweep'][key])} values, not {len(values)}"


def continues(name: str, series: Mapping) -> bool:
    """Whether a name such as `heads=32` continues a series of names that differ in the number alone."""
    keys = {known.partition("=")[:2] for known in series}
    try:
        float(name.partition("=")[2])
    except ValueError:
        return False
    return keys == {name.partition("=")[:2]}


def unfit(item: str, settings: Settings, shipped: Settings, every: int) -> Iterator[tuple[str, str]]:
    """What keeps one simulation from being drawn in the place of the shipped one, or from ending in reasonable time."""
    if item not in ANYWHERE and settings.dimension != shipped.dimension:
        yield "dimension", f"the figure shows tokens in {shipped.dimension} dimensions, not {settings.dimension}"
    if item not in ANYWHERE and FIELDS[settings.field].sphere != FIELDS[shipped.field].sphere:
        place = "on the sphere" if FIELDS[shipped.field].sphere else "in space"
        yield "field", f"the figure shows tokens {place}, where '{settings.field}' does not keep them"
    for key in ("beta", "steepness"):
        if len(several(getattr(settings, key))) > 1 and not isinstance(getattr(shipped, key), tuple):
            yield key, "the figure of this item shows one value, not several side by side; give a number"
    systems, kept = len(settings.systems), settings.steps // every + 2
    largest = systems * settings.tokens * max(settings.heads * settings.tokens, kept * settings.dimension)
    if largest > MOST_NUMBERS:
        size = f"{settings.tokens:,} tokens, {settings.heads} heads, {systems} systems, {settings.steps:,} steps"
        yield "tokens", f"{size}: arrays of {largest:.0e} numbers, of {MOST_NUMBERS:.0e} at most; lower one of them"
