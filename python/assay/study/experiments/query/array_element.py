"""Experiment that compares an array column by `@>` instead of `= any`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.record.layout import ARRAY_ELEMENT
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.query.form import in_other_form

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    changed = in_other_form(request, engine, advice.subject, ARRAY_ELEMENT)
    return ChangedRun(f"{advice.subject} with @>", changed)


experiment = Experiment(
    kind="array-element",
    changes="the text of a query, whose answer stays the same and is verified",
    set_up="the query is sent with `column @> array[value]` instead of `value = any (column)`",
    undo="nothing stays",
    follow=_follow,
)
