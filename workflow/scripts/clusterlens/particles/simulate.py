"""One entry for every simulation: settings in, the trajectory of a whole batch of systems out."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from clusterlens.errors import UserError, choose
from clusterlens.particles import matrices
from clusterlens.particles.fields import VELOCITIES, System
from clusterlens.particles.integrators import INTEGRATORS, extended, projected, unit
from clusterlens.particles.settings import FIELDS, Field, Settings
from clusterlens.particles.starts import STARTS

DTYPES = {"float64": torch.float64, "float32": torch.float32}
STREAMS = ("start", "query", "key", "value", "mlp")  # each has its own random numbers: changing one leaves the others


@dataclass(frozen=True)
class Trajectory:
    """Where every token of every system was at the times kept."""

    times: np.ndarray  # (T,)
    positions: Tensor  # (T, S, n, d)
    system: System
    field: Field


def drawn(settings: Settings, stream: str, seed: int) -> np.ndarray:
    """What one seed draws for one part: the start (n, d), or the matrices of all heads (H, d, d)."""
    rng = np.random.default_rng([seed, STREAMS.index(stream)])
    if stream == "start":
        return settings.start_scale * STARTS[settings.start](rng, settings.tokens, settings.dimension)
    heads = 1 if stream == "mlp" else settings.heads
    return matrices.build(getattr(settings, stream), rng, heads=heads, d=settings.dimension)


def batch(settings: Settings, stream: str) -> np.ndarray:
    """What all systems draw, in the order of `settings.systems`: (S, ...), or 1 for S where nothing is drawn."""
    if stream != "start" and not matrices.is_random(getattr(settings, stream)):
        return drawn(settings, stream, settings.seeds[0])[None]
    per_seed = np.stack([drawn(settings, stream, seed) for seed in settings.seeds])
    copies = len(settings.systems) // len(settings.seeds)
    return np.tile(per_seed, (copies,) + (1,) * (per_seed.ndim - 1))


def system_of(settings: Settings, *, dtype: torch.dtype, device: torch.device) -> System:
    """The matrices and numbers of all systems, with None for a matrix that is the identity for one head."""
    tensor = partial(torch.as_tensor, dtype=dtype, device=device)

    def matrix(stream: str) -> Tensor | None:
        array = batch(settings, stream)
        if array.shape[1] == 1 and (array == np.eye(settings.dimension)).all():
            return None
        return tensor(array)

    betas, steepnesses, _ = zip(*settings.systems, strict=True)
    return System(
        query=matrix("query"),
        key=matrix("key"),
        value=matrix("value"),
        mlp=matrix("mlp"),
        beta=tensor(betas)[:, None, None, None],
        steepness=tensor(steepnesses)[:, None, None],
        threshold=settings.threshold,
    )


def simulate(
    settings: Settings, *, dtype: str = "float64", device: torch.device | str = "cpu", every: int = 1
) -> Trajectory:
    """Run all systems of `settings` side by side and keep every `every`-th step, the start and the end."""
    precision = choose("dtype", dtype, DTYPES)
    device = torch.device(device)
    field = FIELDS[settings.field]
    system = system_of(settings, dtype=precision, device=device)
    x = torch.as_tensor(batch(settings, "start"), dtype=precision, device=device)
    x = x.permute(2, 0, 1).contiguous().permute(1, 2, 0)  # dimension by dimension: sums over them then run over rows
    velocity: Callable = partial(call, VELOCITIES[settings.field], system)
    if field.sphere and not field.discrete:
        x = unit(x)
        velocity = projected(velocity) if settings.integrator == "euler" else extended(velocity)
    advance = choose("integrator", settings.integrator, INTEGRATORS)
    kept = settings.kept(every)
    positions = torch.empty((len(kept), *x.shape), dtype=precision, device=device)
    slots = iter(positions)
    wanted = set(kept)
    with torch.inference_mode():
        next(slots).copy_(x)
        for index in range(1, settings.steps + 1):
            x = advance(velocity, (index - 1) * settings.step, x, settings.step)
            if field.sphere and not field.discrete:
                x = unit(x)
            if index in wanted:
                next(slots).copy_(x)
    trajectory = Trajectory(np.array(kept) * settings.step, positions, system, field)
    refuse_overflow(trajectory, settings)
    return trajectory


def call(function, system: System, t: float, x: Tensor) -> Tensor:
    return function(t, x, system)


def refuse_overflow(trajectory: Trajectory, settings: Settings) -> None:
    """Stop at numbers that are not finite: nothing drawn from them would mean anything."""
    finite = torch.isfinite(trajectory.positions).flatten(1).all(1).cpu().numpy()
    if not finite.all():
        when = trajectory.times[~finite][0]
        raise UserError(
            f"field '{settings.field}' overflows {trajectory.positions.dtype} by t = {when:g} at beta {settings.beta}:"
            " lower beta, start_scale or time"
        )
