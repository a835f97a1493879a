"""Experiment in which an operation gathers the statistics of its temporary tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from assay.engines.advice import CannotError
from assay.record.layout import ANALYZED
from assay.study.experiments.contract import ChangedRun, Experiment
from assay.study.experiments.query.form import in_other_form

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest

KIND: Final = "temporary-statistics"


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    facts = engine.advising()
    if KIND not in facts.statements:
        raise CannotError("it has no statement for statistics that a transaction can contain")
    template = (engine.folder / facts.statements[KIND]).read_text(encoding="utf-8")
    statements = [facts.statement(template, table) for table in advice.tables]
    parts = [f"{ANALYZED}:{statement.strip().rstrip(';')}" for statement in statements]
    changed = in_other_form(request, engine, advice.subject, *parts)
    tables = " and ".join(advice.tables)
    return ChangedRun(f"{advice.subject} with statistics of {tables}", changed)


experiment = Experiment(
    kind=KIND,
    changes="the text of an operation, whose answer stays the same and is verified",
    set_up="the operation gathers the statistics of a temporary table after it fills the table",
    undo="nothing stays",
    follow=_follow,
)
