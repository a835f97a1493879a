"""Findings in words: the command that carries their advice out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.report.documents.findings import FindingRow


def carry_out(run: str, finding: FindingRow) -> str | None:
    """The command that carries a finding's advice out; None for none, or if it is told already."""
    command = f"assay try {run} {finding['key']}"
    is_told = finding["to_try"] is not None and command in finding["to_try"]
    return None if finding["advice"] is None or is_told else command
