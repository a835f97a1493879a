"""Experiment with one client alone, which never waits for another one; it is never adopted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun, Experiment

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    del advice, engine
    if request.clients is None:
        raise CannotError("the run asks its operations one after another, without clients")
    return ChangedRun("one client alone", request.changed(clients=1))


experiment = Experiment(
    kind="one-client",
    changes="the number of clients, so that none waits for another one",
    set_up="the run starts one client",
    undo="nothing stays",
    follow=_follow,
    gain_means="the gain is an upper limit, because CPUs and disks have less to do, too",
)
