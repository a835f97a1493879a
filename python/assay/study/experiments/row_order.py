"""Experiment with another order of a table's rows at loading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.statements import columns_of

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    del engine
    if request.dsn is not None:
        raise CannotError("its tables would have to be made anew")
    columns = columns_of(advice)
    changed = request.changed(sorted_by={**request.sorted_by, advice.subject: columns})
    return ChangedRun(f"{advice.subject} in the order of {', '.join(columns)}", changed)


experiment = Experiment(
    kind="row-order",
    changes="the order in which the rows of a table are loaded",
    set_up="the data is sorted and loaded once, and copied for each run",
    undo="the copy of the data is dropped with the run",
    follow=_follow,
)
