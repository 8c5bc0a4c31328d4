"""The cases of A's simulation study, under the names that files, tables, figures and claims give them."""

from dataclasses import dataclass

DATA_NAMES = {"picture": "Data A", "diabetes": "Data B", "heart": "Data C"}

# The scaling modes, which scaling.py spells out, and what panels call them.
MODES = {
    "sdp": "dot product scaled",
    "sq_exact": "query scaled, exact",
    "sq_inplace": "query scaled in place",
    "sq_inplace_clone": "in place, on a copy",
}

# What the sensitivity grid varies, and what it measures in each setting.
CHOICES = ("sample", "standardise", "iterations", "order", "clusters")
OUTCOMES = ("silhouette", "accuracy", "coverage", "accuracy all clusters")


@dataclass(frozen=True)
class Case:
    """`global`, `local {window}` or `longformer {window}[ {mode}]`: the window as in the config, `sdp` left out."""

    pattern: str
    window: int | None = None
    mode: str = "sdp"

    @property
    def name(self) -> str:
        return " ".join(str(part) for part in (self.pattern, self.window, self.mode) if part not in (None, "sdp"))

    @classmethod
    def read(cls, name: str) -> "Case":
        pattern, *rest = name.split()
        return cls(pattern, int(rest[0]) if rest else None, *rest[1:])

    def parameters(self, fitted: dict[int, int], global_tokens: list[int]) -> dict:
        """The pattern's parameters, with the window that fits the tokens."""
        window = {} if self.window is None else {"window": fitted[self.window]}
        return window | ({"global_tokens": global_tokens, "mode": self.mode} if self.pattern == "longformer" else {})


def cases(windows: list[int], modes: list[str]) -> list[Case]:
    """Global attention, local windows, and Longformer's pattern with the largest window under each of the modes."""
    local = [Case("local", window) for window in windows]
    return [Case("global"), *local, *(Case("longformer", max(windows), mode) for mode in modes)]


def fitted_windows(windows: list[int], n: int) -> dict[int, int]:
    """The window used for each nominal one: the same where the largest fits the tokens, else all shrunk by one factor.

    Deviation: a small table has fewer tokens than A's window of 512; the largest then becomes half of the tokens, as
    512 is of 1,024, and every window stays even.
    """
    largest = max(windows)
    if largest <= n:
        return {window: window for window in windows}
    return {window: max(2, 2 * round(window / largest * n / 4)) for window in windows}
