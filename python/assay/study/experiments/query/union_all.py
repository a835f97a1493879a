"""Experiment that keeps the duplicates of a union, to measure what their removal costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.query.ablation import removable
from assay.workloads.rewriting.pieces import UNION

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    (operation,) = removable(request, engine, [advice.subject], UNION)
    removed = [*request.remove, f"{operation}/{UNION}"]
    return ChangedRun(f"{operation} with union all", request.changed(remove=removed))


experiment = Experiment(
    kind="union-all",
    changes="the text of a query, whose answer may then have duplicates and is not verified",
    set_up="the query is sent with `union all` instead of `union`",
    undo="nothing stays",
    follow=_follow,
    gain_means="the gain is an upper limit if duplicates have to be removed",
)
