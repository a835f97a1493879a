"""Turns a finding's advice into a changed request of a run.

The only side effect of the module is reading SQL files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.model.errors import UsageError
from assay.study.experiments.contract import ChangedRun
from assay.study.experiments.discovery import experiments
from assay.study.experiments.statements import label_of

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice, Change
    from assay.running.asked.request import RunRequest


def followed(
    request: RunRequest, advice: Advice, engine: EngineFolder, on_server: Change | None = None
) -> ChangedRun:
    """Return a run's request, changed as a finding advises.

    Args:
        request: Request of the run that the advice is about.
        advice: Advice to follow.
        engine: Engine of the run.
        on_server: Statements that change tables of a running server, and statements that revert
            this; None if Assay created the tables, or the change is not about tables.

    Raises:
        UsageError: If the engine or this kind of run cannot follow the advice. The error message
            says why.
        EngineError: If the engine's `advice.toml` cannot be read.
    """
    try:
        if on_server is None:
            changed = experiments()[advice.kind].follow(request, advice, engine)
        else:
            changed = _on_server(request, advice, on_server)
    except CannotError as why:
        raise UsageError(f"this change cannot be made on {engine.facts.title}: {why}") from why
    once = ChangedRun(changed.text, _without_repeats(changed.request))
    if once.request == request:
        raise UsageError(f"there is nothing to try: the run already had {changed.text}")
    return once


def _without_repeats(request: RunRequest) -> RunRequest:
    """Return a request that names each removed part, operation or technique once."""
    return request.changed(
        remove=list(dict.fromkeys(request.remove)),
        one_transaction=list(dict.fromkeys(request.one_transaction)),
        without=list(dict.fromkeys(request.without)),
    )


def _on_server(request: RunRequest, advice: Advice, change: Change) -> ChangedRun:
    """Return a run with a change of a user's tables, which every run reverts."""
    if change.undo is None:
        raise CannotError("no statement takes the change back")
    label = label_of(advice)
    changes = {**request.changes, label: change.sql}
    undo = {**request.undo, label: change.undo}
    return ChangedRun(label, request.changed(changes=changes, undo=undo))
