"""What was asked and which claims answer it first: published/findings.yaml, checked against the claims."""

from pathlib import Path

from clusterlens.errors import UserError, nearest
from clusterlens.items import PUBLISHED
from clusterlens.schema import checked, read_yaml


def read_findings(folder: Path = PUBLISHED) -> dict:
    """The questions of the papers, and the findings of the landing page with the ids of their claims."""
    findings = read_yaml(folder / "findings.yaml")
    checked(findings, "findings", "findings.yaml")
    known = [claim["id"] for claim in read_yaml(folder / "claims.yaml")]
    for name in (name for finding in findings["findings"] for name in finding["claims"]):
        if name not in known:
            raise UserError(f"findings.yaml: unknown claim '{name}': {nearest(name, known)}")
    return findings
