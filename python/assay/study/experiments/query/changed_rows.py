"""Experiment in which updates leave the rows that have the new values already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.record.layout import CHANGED_ROWS
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.query.form import in_other_form

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    changed = in_other_form(request, engine, advice.subject, CHANGED_ROWS)
    return ChangedRun(f"{advice.subject} updates only rows that change", changed)


experiment = Experiment(
    kind="changed-rows",
    changes="the text of an update, which leaves the table with the same values",
    set_up="the update is sent with a condition that compares old and new values",
    undo="nothing stays",
    follow=_follow,
)
