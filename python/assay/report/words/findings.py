"""Phrases on findings: the command that carries out their advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.judging import TO_SETTLE
from assay.analysis.findings.shape.steady import METHOD as STEADY
from assay.report.words.wrapping import one_line

if TYPE_CHECKING:
    from assay.report.documents.findings import FindingRow


COSTS = "It costs"
# Methods whose effect is a change of throughput or reads, and no share of the run's time.
CHANGES = (STEADY,)


def is_share(finding: FindingRow) -> bool:
    """Return True if the effect of a finding is a share of the run's time."""
    return finding["method"] not in CHANGES


def to_do_texts(finding: FindingRow) -> list[str]:
    """Return texts on a change's SQL statements, their costs, and how to undo them."""
    change = finding.get("change")
    if change is None:
        return []
    texts = [f"To do: {one_line(change['sql'])}"]
    if change["costs"]:
        texts.append(f"{COSTS}: {change['costs']}.")
    if change["undo"]:
        texts.append(f"To undo: {one_line(change['undo'])}")
    return texts


def short_settle(text: str) -> str | None:
    """Return what would settle a suspected cause without its reason, which follows a colon.

    None if it is only that a second method is needed, which holds for every suspicion.
    """
    if text == TO_SETTLE:
        return None
    lead, _, _ = text.partition(": ")
    return text if lead.count("`") % 2 else lead


def carry_out(run: str, finding: FindingRow) -> str | None:
    """Return the command that carries out a finding's advice; None if it is shown already."""
    command = f"assay try {run} {finding['key']}"
    is_shown = finding["to_try"] is not None and command in finding["to_try"]
    return None if finding["advice"] is None or is_shown else command
