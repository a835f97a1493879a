"""Experiment that computes running totals by a window function, which reads each row once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.record.layout import RUNNING_TOTAL
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.query.form import in_other_form

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    changed = in_other_form(request, engine, advice.subject, RUNNING_TOTAL)
    return ChangedRun(f"{advice.subject} with a window function", changed)


experiment = Experiment(
    kind="window-function",
    changes="the text of a query, whose answer stays the same and is verified",
    set_up="the query is sent with a window function instead of a running total by a subquery "
    "or a join",
    undo="nothing stays",
    follow=_follow,
)
