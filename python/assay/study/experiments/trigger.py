"""Experiment with a disabled trigger, whose change is never adopted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.statements import SET_UP, UNDO

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest

STATEMENT = "trigger"


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    if request.dsn is not None:
        raise CannotError("a trigger may keep the data right, and the server is not Assay's own")
    facts = engine.advising()
    if STATEMENT not in facts.statements:
        raise CannotError("it has no statement that switches a trigger off")
    template = (engine.folder / facts.statements[STATEMENT]).read_text(encoding="utf-8")
    # Without a known table, the statement does not need one.
    sql = facts.statement(template, advice.values.get("table", ""), existing=advice.subject)
    label = f"no trigger {advice.subject}"
    return ChangedRun(label, request.changed(prepare={**request.prepare, label: sql}))


experiment = Experiment(
    kind="trigger",
    changes="whether a trigger fires, and therefore the rows of the tables that it writes to",
    set_up=SET_UP,
    undo=UNDO,
    follow=_follow,
    gain_means="the gain is an upper limit, because the work of the trigger may be needed",
)
