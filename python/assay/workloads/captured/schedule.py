"""The recorded times of a captured workload's executions, for a run that repeats them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.workloads.captured.writing import read_schedule

if TYPE_CHECKING:
    from assay.workloads.captured.writing import Recorded
    from assay.workloads.contract import Workload


def recorded_schedule(workload: Workload) -> list[Recorded]:
    """Return all captured executions that are repeated, the earliest first.

    Raises:
        UsageError: If no executions were captured, or their file cannot be read.
    """
    captured = workload.facts.captured
    if captured is None or captured.schedule is None:
        raise UsageError(
            f"--as-recorded: the workload {workload.facts.name} has no recorded times: remove "
            "--as-recorded, or create a workload with `assay capture --log FILE`"
        )
    recorded = read_schedule(workload.folder / captured.schedule)
    played = set(workload.facts.order)
    return [execution for execution in recorded if execution.operation in played]
