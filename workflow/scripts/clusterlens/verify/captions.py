"""An item's caption in the report: its standing text, a line per claim, and what stands in for what."""

import re

import pandas as pd

from clusterlens.verify.claims import RULED_OUT


def escape(text: object) -> str:
    """Plain text that reStructuredText leaves alone."""
    return re.sub(r"([\\*`_|])", r"\\\1", str(text))


def compose(text: str, claims: pd.DataFrame, stand_ins: list[str], scale: str) -> str:
    """The caption of one item; `claims` are its rows of the claims table."""
    parts = [text.strip()]
    if len(claims):
        parts.append("\n".join(claim_line(claim) for claim in claims.to_dict("records")))
    if stand_ins:
        parts.append(f"**Not the paper's data:** {escape('; '.join(stand_ins))}.")
    if scale != "paper":
        parts.append(f"Made with the {escape(scale)} configuration.")
    return "\n\n".join(parts) + "\n"


def claim_line(claim: dict) -> str:
    """`- claim — verdict: ours (low to high, n seeds) against the threshold. Why.`"""
    found = f": {escape(claim['ours'])}" if claim["ours"] else ""
    interval = f"95 % interval {claim['low']} to {claim['high']}, {claim['seeds']} seeds" if claim["low"] else ""
    threshold = f"threshold: {escape(claim['threshold'])}" if claim["threshold"] else ""
    details = "; ".join(part for part in (interval, threshold) if part)
    why = f" {escape(claim['reason'])}" if claim["verdict"] in RULED_OUT.values() else ""
    ours = " *(our question)*" if claim["whose"] == "ours" else ""
    return f"- {escape(claim['claim'])}{ours} — **{claim['verdict']}**{found}{f' ({details})' if details else ''}.{why}"
