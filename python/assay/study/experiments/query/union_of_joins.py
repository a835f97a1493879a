"""Experiment that sends a join by alternatives as a union of one join for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.record.layout import EITHER_JOIN
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.query.form import in_other_form

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    changed = in_other_form(request, engine, advice.subject, EITHER_JOIN)
    return ChangedRun(f"{advice.subject} with a union of joins", changed)


experiment = Experiment(
    kind="union-of-joins",
    changes="the text of a query, whose answer stays the same and is verified",
    set_up="the query is sent with `union all` of one join for each alternative",
    undo="nothing stays",
    follow=_follow,
)
