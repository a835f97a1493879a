"""Experiment with an index that is created after loading, or made usable again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun, Experiment, shown_by_plans
from assay.study.experiments.statements import SET_UP, UNDO, prepared_with

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    if (statement := advice.values.get("statement")) is not None:
        label = f"index {advice.values['name']} of {advice.subject}, usable"
        return ChangedRun(label, request.changed(prepare={**request.prepare, label: statement}))
    if not advice.columns and "expression" not in advice.values:
        raise CannotError(f"the finding does not say which columns of {advice.subject}")
    return prepared_with("index", request, advice, engine)


experiment = Experiment(
    kind="index",
    changes="the indexes of a table, and what each write to it costs",
    set_up=SET_UP,
    undo=UNDO,
    follow=_follow,
    by_plan=shown_by_plans,
)
