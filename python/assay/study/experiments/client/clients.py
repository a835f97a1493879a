"""Experiment with fewer or more clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun, Experiment, value_of

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    del engine
    if request.clients is None:
        raise CannotError("the run asks its operations one after another, without clients")
    value = value_of(advice)
    if not value.isdecimal() or int(value) < 1:
        raise CannotError(f"{value!r} is no number of clients")
    return ChangedRun(f"{value} clients", request.changed(clients=int(value)))


experiment = Experiment(
    kind="clients",
    changes="the number of clients that send operations at once",
    set_up="the run starts another number of clients",
    undo="nothing stays",
    follow=_follow,
)
