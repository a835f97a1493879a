"""Experiment that sends numbers as text where a query compares them with columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.study.experiments.contract import ChangedRun, Experiment, shown_by_plans
from assay.study.experiments.query.ablation import removable
from assay.workloads.rewriting.pieces import NUMBERS

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    (operation,) = removable(request, engine, [advice.subject], NUMBERS)
    removed = [*request.remove, f"{operation}/{NUMBERS}"]
    return ChangedRun(f"{operation} with text values", request.changed(remove=removed))


experiment = Experiment(
    kind="text-values",
    changes="the text of a query, which then does not find a text such as '007' for the number 7",
    set_up="the query is sent with texts instead of the numbers that it compares with columns",
    undo="nothing stays",
    follow=_follow,
    by_plan=shown_by_plans,
)
