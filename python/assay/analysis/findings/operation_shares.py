"""Shares of operations' time: those that are large enough, their products, overlaps, and names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

# Shares from samples and from plans are separate measurements, which may differ by this much.
OVERLAP_MAX = 0.05


def names_text(names: Sequence[str], most: int = 3) -> str:
    """Return text with the first `most` names and the number of the others."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left} more" if left > 0 else "")


def at_least(fractions: Mapping[str, float], least: float) -> dict[str, float]:
    """Return the fractions by operation that are large enough to be named."""
    return {name: fraction for name, fraction in fractions.items() if fraction >= least}


def product(fractions: Mapping[str, float], factors: Mapping[str, float]) -> dict[str, float]:
    """Return fractions by operation times their factors, without fractions that have no factor."""
    return {name: part * factors[name] for name, part in fractions.items() if name in factors}


def overlaps(case: Case, finding: Finding, larger: Finding) -> bool:
    """Return True if two causes together claim more than all of the time that they share."""
    part = _common_part(finding.part or "", larger.part or "")
    if part is None:
        return False
    for name in set(finding.fractions) & set(larger.fractions):
        tree = case.trees.get(name)
        room = 1.0 if tree is None else tree.share_of(part)
        both = math.fsum((finding.fractions[name], larger.fractions[name]))
        if both > room + OVERLAP_MAX:
            return True
    return False


def _common_part(left: str, right: str) -> str | None:
    """Return the outer of two nested paths in the time tree; None if neither contains the other."""
    if left == right or right.startswith(f"{left}/"):
        return left
    return right if left.startswith(f"{right}/") else None
