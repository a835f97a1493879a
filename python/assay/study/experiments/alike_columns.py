"""Experiment that declares a column as the one with which it is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from assay.engines.advice import CannotError
from assay.model.sql import alike_statement
from assay.study.experiments.contract import ChangedRun, Experiment, always
from assay.study.experiments.statements import SET_UP, UNDO

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest

KIND: Final = "alike-columns"


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    if request.dsn is not None:
        raise CannotError("it changes a column of a table, and the server is not Assay's own")
    facts = engine.advising()
    if KIND not in facts.statements:
        raise CannotError("it has no statement that changes the type or character set of a column")
    template = (engine.folder / facts.statements[KIND]).read_text(encoding="utf-8")
    prepare = {
        f"{part.subject}.{column} declared as {part.values['like']}": alike_statement(
            template, (part.subject, column), _column(part.values["like"]), facts.quote
        )
        for part in advice.parts
        for column in part.columns
    }
    return ChangedRun("; ".join(prepare), request.changed(prepare={**request.prepare, **prepare}))


def _column(name: str) -> tuple[str, str]:
    """Return the table and the column of a name `table.column`."""
    table, _, column = name.partition(".")
    return table, column


experiment = Experiment(
    kind=KIND,
    changes="the character set, the collation or the type of a column",
    set_up=SET_UP,
    undo=UNDO,
    follow=_follow,
    by_plan=always,
)
