"""Experiment with another order of a table's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.statements import prepared_with
from assay.workloads.discovery import find_workload

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    if request.dsn is not None:
        raise CannotError("its tables would have to be made anew")
    columns = advice.columns
    label = f"{advice.subject} in the order of {', '.join(columns)}"
    if advice.subject not in find_workload(request.workload).facts.tables:
        # Statements of the workload made the table, so that nothing is loaded.
        return prepared_with("row-order", request, advice, engine, label)
    changed = request.changed(sorted_by={**request.sorted_by, advice.subject: columns})
    return ChangedRun(label, changed)


experiment = Experiment(
    kind="row-order",
    changes="the order in which the rows of a table are stored",
    set_up="the data is sorted and loaded once, and copied for each run; a table that a workload's "
    "own statements made is sorted before anything is timed",
    undo="the copy of the data is dropped with the run",
    follow=_follow,
)
