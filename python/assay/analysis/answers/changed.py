"""Finds operations that returned other rows in one run than in another, without expected rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.answers.comparison import FLOAT_RELATIVE, Tolerances, difference
from assay.analysis.answers.kept import expected_rows, inexact_columns
from assay.model.kept_answer import KeptAnswer
from assay.record.streams import read_result

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.record.reader import Run

# Rows in any order, without a limit.
ANY_ORDER = KeptAnswer(0, "", "", [], [], [], "", "", None, "")


def changed_answers(before: Run, after: Run) -> tuple[str, ...]:
    """Return the operations that returned other rows in the second run.

    Rows are compared in any order, and floating-point numbers within a tolerance. An operation is
    left out if its rows were not stored, if its values are drawn at each execution, or if it
    returned different rows within the first run.
    """
    return tuple(_changed(before, after))


def _changed(before: Run, after: Run) -> Iterator[str]:
    drawn = before.facts["workload"].get("drawn_operations", [])
    for name in before.facts["plan"]["operations"]:
        if name in drawn:
            continue
        first, second = dict(before.results(name)), dict(after.results(name))
        if len(first) != 1 or not second:
            continue
        (digest, rows), *_ = first.items()
        if any(_differ(rows, other) for key, other in second.items() if key != digest):
            yield name


def _differ(before: Path, after: Path) -> bool:
    wanted, rows = read_result(before), read_result(after)
    floats = dict.fromkeys(inexact_columns(wanted.schema), "float")
    tolerances = Tolerances.of(floats, 0.0, 0.0, 1.0, float(FLOAT_RELATIVE))
    expected = expected_rows(wanted.columns, wanted.rows(), ANY_ORDER)
    return difference(rows.rows(), expected, tolerances) is not None
