"""Experiment that finds the keys of a page far behind first, and then reads its rows by key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.record.layout import FAR_PAGE
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.query.form import in_other_form

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    changed = in_other_form(request, engine, advice.subject, FAR_PAGE)
    return ChangedRun(f"{advice.subject} with a look-up by key", changed)


experiment = Experiment(
    kind="late-look-up",
    changes="the text of a query, whose answer stays the same and is verified",
    set_up="the query is sent with a subquery that finds the keys of the page, by which it reads "
    "the rows",
    undo="nothing stays",
    follow=_follow,
)
