"""How many steps a language model is trained for, and whether its warm-up fits into them. No torch."""

from clusterlens.errors import UserError


def total_steps(phase: dict, texts: int) -> int:
    return phase["epochs"] * -(-texts // phase["batch_size"])


def check_warmup(phase: dict, texts: int, place: str) -> None:
    """Refuse a warm-up that the training ends before."""
    steps, warmup = total_steps(phase, texts), phase["warmup_steps"]
    if warmup > steps:
        raise UserError(
            f"{place}: {texts:,} texts make {steps:,} steps in {phase['epochs']} epochs, fewer than the {warmup:,} of"
            " the warm-up; lower warmup_steps or train longer"
        )
