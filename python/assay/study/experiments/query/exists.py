"""Experiment that looks for a match by `exists` where `select distinct` joins a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.record.layout import DISTINCT_JOIN
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.query.form import in_other_form

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    changed = in_other_form(request, engine, advice.subject, DISTINCT_JOIN)
    return ChangedRun(f"{advice.subject} with exists", changed)


experiment = Experiment(
    kind="exists",
    changes="the text of a query, whose answer stays the same and is verified",
    set_up="the query is sent with `exists` instead of the join, and with its `distinct`",
    undo="nothing stays",
    follow=_follow,
)
