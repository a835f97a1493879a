"""Experiment without some indexes of a table, whose change is never adopted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.statements import SET_UP, UNDO

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest

STATEMENT = "dropped-index"


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    if request.dsn is not None:
        raise CannotError("other statements may need them, and the server is not Assay's own")
    facts = engine.advising()
    if STATEMENT not in facts.statements:
        raise CannotError("it has no statement that drops an index")
    template = (engine.folder / facts.statements[STATEMENT]).read_text(encoding="utf-8")
    names = advice.values["indexes"].split(",")
    sql = "".join(facts.statement(template, advice.subject, existing=name) for name in names)
    label = f"{advice.subject} without {', '.join(names)}"
    return ChangedRun(label, request.changed(prepare={**request.prepare, label: sql}))


experiment = Experiment(
    kind="dropped-index",
    changes="the indexes of a table",
    set_up=SET_UP,
    undo=UNDO,
    follow=_follow,
    gain_means="the gain is an upper limit, because other statements may need these indexes",
)
