"""Experiment that looks for a row by `exists` where a query counts all and compares with zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.record.layout import COUNTED_ROWS
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.query.form import in_other_form

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    changed = in_other_form(request, engine, advice.subject, COUNTED_ROWS)
    return ChangedRun(f"{advice.subject} with exists", changed)


experiment = Experiment(
    kind="exists-for-count",
    changes="the text of a query, whose answer stays the same and is verified",
    set_up="the query is sent with `exists` instead of the comparison of the count",
    undo="nothing stays",
    follow=_follow,
)
