"""Which runs of an item move in its animation, and which can be turned by hand."""

from clusterlens.figures import style
from clusterlens.figures.emergence_items import ORANGE, TEAL, VIOLET

# item -> panels of its animation: index of the run, colour, title, whether the first token is red
FILMS: dict[tuple[str, str], list[tuple[int, str, str, bool]]] = {
    ("spiking", "fig1"): [(0, style.BLUE, "Eq. 9", False), (1, style.ORANGE, "Eq. 8", False)],
    ("transformers", "fig3"): [(1, style.BLUE, "random Q, K", True), (0, style.BLUE, "Q'K = I", True)],
    ("transformers", "fig4"): [(0, style.BLUE, "β = 9", True)],
    ("transformers", "fig5"): [(0, style.GREY, "V = −I", True), (1, style.BLUE, "V = diag(−1, 1)", True)],
    ("transformers", "fig6"): [(0, style.GREY, "V = −I", True), (1, style.BLUE, "V = diag(−1, ½, ½)", True)],
    ("emergence", "polytope"): [(0, ORANGE, "", False)],
    ("emergence", "hyperplanes"): [(0, VIOLET, "d = 2", False), (1, VIOLET, "d = 3", False)],
    ("emergence", "mixed"): [(0, TEAL, "", False)],
    ("emergence", "circle_start"): [(0, style.GREEN, "", False)],
    ("emergence", "more_tokens"): [(0, style.PURPLE, "", False)],
    ("emergence", "multihead_3d"): [(0, style.GREEN, "", False)],
}
