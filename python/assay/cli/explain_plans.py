"""What `assay explain` tells of plans: those of one operation, and what changed in them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from assay.cli.output import console, say
from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.record.reader import Run


def check_operation(run: Run, operation: str | None) -> None:
    """Refuses an operation that the run has no plan of and did not measure."""
    from assay.report.plan_section import captured_of

    told = captured_of(run)
    names = list(dict.fromkeys([*told.plans, *(missing.operation for missing in told.missing)]))
    if operation is not None and operation not in names:
        raise UsageError(f"no operation {operation!r} was measured: {suggestion(operation, names)}")


def plans_told(run: Run, operation: str | None) -> dict[str, Any]:
    """The document's sections of plans, of one operation if one is named."""
    from assay.report.plan_section import capture_section, plans_section

    plans, capture = plans_section(run), capture_section(run)
    if operation is None:
        return {"plans": plans, "plan_capture": capture}
    for key in ("operations", "missing"):
        capture[key] = [one for one in capture[key] if one["operation"] == operation]
    kept = {operation: plans[operation]} if operation in plans else {}
    return {"plans": kept, "plan_capture": capture}


def say_plans(run: Run, operation: str, *, everything: bool) -> None:
    """Prints the plans of an operation, or why there are none."""
    from assay.report.terminal_plans import plan_lines

    told = plans_told(run, operation)
    plans, capture = told["plans"].get(operation, []), told["plan_capture"]
    say("")
    if not plans and not capture["missing"]:
        _say_wrapped(f"Plan of {operation}: not measured: {capture['reason']}")
    _say_all(plan_lines(plans, capture, _width(), everything=everything))


def say_overview(document: dict[str, Any]) -> None:
    """Prints what stands out in the plan of each operation."""
    from assay.report.terminal_plans import overview_lines

    say("")
    _say_all(overview_lines(document, _width()))
    _say_wrapped(f"A whole plan: assay explain {document['run']} --operation NAME")


def differences(ours: Run, theirs: Run, operation: str | None) -> list[dict[str, Any]]:
    """What changed in the plans of both runs, with the time of the operations in each."""
    from assay.report.plan_difference import plan_differences

    return plan_differences(ours, theirs, (_seconds(ours), _seconds(theirs)), operation)


def say_differences(
    ours: Run, theirs: Run, told: list[dict[str, Any]], operation: str | None
) -> None:
    """Prints what changed in the plans, or why they cannot be compared."""
    from assay.report.plan_section import captured_of
    from assay.report.terminal_plans import changed_lines, difference_lines

    say("")
    without = [run for run in (ours, theirs) if not captured_of(run).plans]
    if without:
        run = without[0]
        _say_wrapped(f"Plans: not compared, {run.id} has none: {captured_of(run).reason}")
    elif operation is None or not told:
        _say_all(changed_lines(told, _width()))
    else:
        _say_all(difference_lines(told, _width()))


def _seconds(run: Run) -> dict[str, float]:
    from assay.analysis.operations import operation_table

    if not run.has("events"):
        return {}
    table = operation_table(run.table("events")).drop_nulls("seconds")
    return dict(table.select("operation", "seconds").iter_rows())


def _width() -> int:
    from assay.report.terminal import width_of

    return width_of(console(stderr=False))


def _say_wrapped(words: str) -> None:
    _say_all(textwrap.wrap(words, _width(), break_long_words=False, break_on_hyphens=False))


def _say_all(lines: Iterable[str]) -> None:
    for line in lines:
        say(line)
