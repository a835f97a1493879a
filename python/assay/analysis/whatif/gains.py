"""Ranks the time saved by removing each cause of waiting and each kind of work."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.analysis.causes import TITLES
from assay.analysis.whatif.changes import WAITS, RemoveWait, RemoveWork
from assay.analysis.whatif.prediction import Prediction, predict
from assay.analysis.whatif.resampling import NO_RESAMPLES, resamples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.whatif.timing import Measured

# Maximum number of kinds of work, and the smallest change of the first metric that is listed.
WORKS_MAX = 8
CHANGE_MIN = 0.005


@dataclass(frozen=True)
class Worth:
    """The gain if one cause or kind of work took no time, which bounds any change's gain.

    Attributes:
        kind: `work` for a kind of work in CPU samples, `wait` for a cause in `analysis.causes`.
        subject: Name of the kind of work or cause.
        title: Title for readers.
        prediction: Prediction without this cause or work.
    """

    kind: str
    subject: str
    title: str
    prediction: Prediction

    @property
    def gain(self) -> float:
        """The improvement of the run's main metric, as a share of its value."""
        first = self.prediction.metrics[0]
        change = first.change or 0.0
        return change if first.metric.better == "higher" else -change

    def facts(self) -> dict[str, Any]:
        """Return the gain of removing one cause as JSON values."""
        return {
            "kind": self.kind,
            "subject": self.subject,
            "title": self.title,
            "metrics": [metric.facts() for metric in self.prediction.metrics],
            "assumption": self.prediction.assumptions[0],
        }


def worth(measured: Measured) -> tuple[Worth, ...]:
    """Return the gains of removing the largest kinds of work and causes of waiting.

    The result is empty if an operation has no time.
    """
    if measured.why_not is not None or not measured.operations:
        return ()
    works = [
        Worth("work", word, word, predict(measured, [RemoveWork(word)], NO_RESAMPLES))
        for word in measured.works
    ]
    waits = [
        Worth("wait", name, TITLES[name], predict(measured, [RemoveWait(name)], NO_RESAMPLES))
        for name in WAITS
        if any(name in (operation.thread_s or {}) for operation in measured.operations)
    ]
    largest = sorted(works, key=lambda candidate: -candidate.gain)[:WORKS_MAX]
    large = [candidate for candidate in (*largest, *waits) if candidate.gain >= CHANGE_MIN]
    return tuple(_with_intervals(measured, sorted(large, key=lambda candidate: -candidate.gain)))


def _with_intervals(measured: Measured, candidates: list[Worth]) -> Iterator[Worth]:
    """Yield the gains of removing causes, with their 95 % intervals."""
    drawn = resamples(measured) if candidates else NO_RESAMPLES
    for candidate in candidates:
        made = RemoveWork if candidate.kind == "work" else RemoveWait
        change = made(candidate.subject)
        yield replace(candidate, prediction=predict(measured, [change], drawn))
