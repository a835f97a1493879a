"""Phrases for findings on waiting: how long, where, and in which operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.causes import TITLES
from assay.analysis.findings.case import at_least
from assay.model.finding import Evidence
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case

# Operations that waited for a smaller share of their own time are not named.
NAMED_SHARE = 0.02
NAMED_OPERATIONS = 3


def waited(case: Case, *names: str) -> dict[str, float]:
    """Return the share of each operation's time that it spent in the named waits, if relevant."""
    return at_least(case.part(*names), NAMED_SHARE)


def waiting_evidence(
    case: Case, fractions: Mapping[str, float], names: Sequence[str]
) -> list[Evidence]:
    """Return each cause's share of the time of the operations that waited most, as evidence."""
    of_each = {op.name: op.where for op in case.operations}
    evidence = []
    for operation in case.largest_first(fractions)[:NAMED_OPERATIONS]:
        parts = [(TITLES[name], of_each[operation].get(name)) for name in names]
        texts = [f"{percent_text(share)} of its time {title}" for title, share in parts if share]
        evidence.append(Evidence(f"{operation}: {', '.join(texts)}", f"where:{operation}"))
    return evidence
