"""The states in which a model is probed: as trained, freshly initialised, and without some of its learned weights."""

from dataclasses import dataclass

TRAINED, FRESH = "trained", "fresh"


@dataclass(frozen=True)
class Disabled:
    """What `disable` is told, and what a figure calls it."""

    what: str
    norm: str
    scaling: str
    title: str

    @property
    def in_place(self) -> bool:
        return self.scaling == "sq_inplace"


# A Fig. 12 is "learned (Q, K, V) weights are disabled" in its caption and "all learned weights disabled", with layer
# norm, in the text; Fig. 14 is "all learned parameters and normalization disabled".
DISABLED = {
    "qkv_in_place": Disabled("qkv", "learned", "sq_inplace", "Q = K = V = I, in place"),
    "qkv_clean": Disabled("qkv", "learned", "sdp", "Q = K = V = I, clean"),
    "plain_in_place": Disabled("all", "plain", "sq_inplace", "layer norm only, in place"),
    "plain_clean": Disabled("all", "plain", "sdp", "layer norm only, clean"),
    "off_in_place": Disabled("all", "off", "sq_inplace", "no weights, no norm, in place"),
    "off_clean": Disabled("all", "off", "sdp", "no weights, no norm, clean"),
}
# In-place division is Longformer's; ALBERT and T5 are in none of A's figures.
POSSIBLE = {
    "longformer": tuple(DISABLED),
    "roberta": tuple(name for name, state in DISABLED.items() if not state.in_place),
}
