"""Shares of operations' time: those that are large enough, their products, and their names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case

# A statement without a name is known by its number in the operation: `3 insert wanted`.
_NUMBER = re.compile(r"\d+")


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
