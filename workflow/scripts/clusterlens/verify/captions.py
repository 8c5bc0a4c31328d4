"""An item's caption in the report: its standing text, a line per claim, and what stands in for what."""

import re

import pandas as pd


def escape(text: object) -> str:
    """Plain text that reStructuredText leaves alone."""
    return re.sub(r"([\\*`_|])", r"\\\1", str(text))


def compose(text: str, claims: pd.DataFrame, stand_ins: list[str], scale: str) -> str:
    """The caption of one item; `claims` are its rows of the claims table."""
    parts = [text.strip()]
    if len(claims):
        parts.append("\n".join(claim_line(claim) for claim in claims.to_dict("records")))
    if stand_ins:
        parts.append(f"**Stand-ins, not the paper's data:** {escape('; '.join(stand_ins))}.")
    elif scale != "paper":
        parts.append(f"Made with the {escape(scale)} configuration.")
    return "\n\n".join(parts) + "\n"


def claim_line(claim: dict) -> str:
    """`- claim — verdict (ours …)`."""
    found = f" (ours: {escape(claim['ours'])})" if claim["ours"] else ""
    why = f" {escape(claim['reason'])}" if claim["verdict"] == "cannot hold" else ""
    return f"- {escape(claim['claim'])} — **{claim['verdict']}**{found}.{why}"
