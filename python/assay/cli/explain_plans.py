"""The plans that `assay explain` prints: what stands out in them, and what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.cli.output import console, say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.record.reader import Run
    from assay.report.documents.plan_difference import PlanDifferenceRow


def differences(ours: Run, theirs: Run, operation: str | None) -> list[PlanDifferenceRow]:
    """Return the changes between both runs' plans, with the operations' times in each."""
    from assay.report.sections.plan_difference import plan_differences

    return plan_differences(ours, theirs, (_seconds(ours), _seconds(theirs)), operation)


def say_differences(
    ours: Run, theirs: Run, changes: list[PlanDifferenceRow], operation: str | None
) -> None:
    """Prints what changed in the plans, or why they cannot be compared."""
    from assay.report.sections.plans import captured_of
    from assay.report.terminal.plans import changed_lines, difference_lines

    say("")
    without = [run for run in (ours, theirs) if not captured_of(run).plans]
    if without:
        run = without[0]
        _say_wrapped(f"Plans: not compared, {run.id} has none: {captured_of(run).reason}")
    elif operation is None or not changes:
        _say_all(changed_lines(changes, _width()))
    else:
        _say_all(difference_lines(changes, _width()))


def _seconds(run: Run) -> dict[str, float]:
    from assay.analysis.operations import operation_table

    if not run.has("events"):
        return {}
    table = operation_table(run.table("events")).drop_nulls("seconds")
    return dict(table.select("operation", "seconds").iter_rows())


def _width() -> int:
    from assay.report.terminal.summary import width_of

    return width_of(console(stderr=False))


def _say_wrapped(text: str) -> None:
    from assay.report.words.wrapping import indented

    _say_all(indented(text, "", _width()))


def _say_all(lines: Iterable[str]) -> None:
    for line in lines:
        say(line)
