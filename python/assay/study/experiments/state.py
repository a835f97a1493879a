"""Experiment with a longer warm-up, so that more data is in the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.study.experiments.contract import ChangedRun, Experiment

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest

# Field of the advice with the warm-up that the run needs, in seconds.
WARMUP = "warmup_s"


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    del engine
    if request.clients is None:
        raise CannotError("an order is only measured after a pass that is not")
    try:
        warmup_s = float(advice.values[WARMUP])
    except (KeyError, ValueError) as error:
        raise CannotError(f"`assay run` cannot bring about the state {advice.subject!r}") from error
    return ChangedRun(f"{warmup_s:g} s of warm-up", request.changed(warmup_s=warmup_s))


experiment = Experiment(
    kind="state",
    changes="how long the load is played before it is measured",
    set_up="each run lasts longer",
    undo="nothing stays",
    follow=_follow,
)
