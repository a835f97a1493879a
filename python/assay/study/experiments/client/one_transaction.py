"""Experiment with one transaction around the statements of an operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.model.language import SQL
from assay.study.experiments.contract import ChangedRun, Experiment

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    if request.language not in {None, SQL} or SQL not in engine.facts.spoken:
        raise CannotError("only operations in SQL can be put into a transaction")
    if request.test is not None:
        raise CannotError("a test has the transactions of its specification")
    names = [*request.one_transaction, advice.subject]
    changed = request.changed(one_transaction=names)
    return ChangedRun(f"{advice.subject} in one transaction", changed)


experiment = Experiment(
    kind="one-transaction",
    changes="when the client commits: once per operation instead of after each statement",
    set_up="each client begins a transaction before the operation and commits it at its end",
    undo="nothing stays",
    follow=_follow,
)
