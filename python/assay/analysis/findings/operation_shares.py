"""Shares of operations' time: those that are large enough, their products, overlaps, and names."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

# The share of a count for which a single operation accounts, so that the count is its own.
SOLE_SHARE = 0.95
ALL_TOGETHER = " of all operations together, on average"
# A statement without a name is known by its number in the operation: `3 insert wanted`.
_NUMBER = re.compile(r"\d+")
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


def statement_shares(case: Case, operation: str) -> Mapping[int, float]:
    """Return the share of an operation's time by the position of the statement, from 0.

    Empty if statements were not timed, or if the workload names them.
    """
    times = case.statement_times.get(operation)
    numbered = [
        (_NUMBER.match(statement.name), statement.share)
        for statement in (() if times is None else times.statements)
    ]
    return {int(match[0]) - 1: share for match, share in numbered if match is not None}


def sole_operation(case: Case, weights: Mapping[str, float]) -> str | None:
    """Return the operation that accounts for nearly all of a count; None if several may.

    Args:
        case: The run.
        weights: The most that an execution of each operation can add to the count, in any unit.
    """
    most = {op.name: weights.get(op.name, 0.0) * op.passes for op in case.operations}
    name = max(most, key=lambda operation: most[operation], default=None)
    whole = sum(most.values())
    return name if name is not None and whole and most[name] >= SOLE_SHARE * whole else None


def execution_text(case: Case, operations: Iterable[str]) -> str:
    """Return the executions that a mean count is about, with its operations if there are several.

    A mean over different operations says so: it is the count of none of them.
    """
    names = list(operations)
    if len(names) == len(case.operations):
        return "execution" + ALL_TOGETHER * (len(names) > 1)
    together = " together, on average" if len(names) > 1 else ""
    return f"execution of {names_text(names)}{together}"
