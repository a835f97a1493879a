"""Experiment with a function that is declared as one whose result stays the same in a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.statements import SET_UP, UNDO

if TYPE_CHECKING:
    from assay.engines.advice import Doing
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest

KIND: Doing = "stable-function"


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    if request.dsn is not None:
        raise CannotError("the function is not Assay's own")
    facts = engine.advising()
    if KIND not in facts.statements:
        raise CannotError("it has no statement that declares an existing function as stable")
    template = (engine.folder / facts.statements[KIND]).read_text(encoding="utf-8")
    sql = facts.statement(template, "", existing=advice.subject)
    label = f"{advice.subject} declared as stable"
    return ChangedRun(label, request.changed(prepare={**request.prepare, label: sql}))


experiment = Experiment(
    kind="stable-function",
    changes="whether the engine may compute a function once for a statement, which is wrong if the "
    "function writes, or if its result changes meanwhile",
    set_up=SET_UP,
    undo=UNDO,
    follow=_follow,
)
