"""Computes TPC-H's metrics of a whole test from the times of its operations.

If an operation's time changes by a factor, it changes by this factor in every power and
throughput test. Each stream continues in its order, and the reported run is the one with the
lower composite after the change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.composite.figures import Figures, figures, reported_run
from assay.analysis.composite.formulas import composite
from assay.analysis.composite.naming import COMPOSITE, POWER, THROUGHPUT
from assay.analysis.whatif.metrics import Metric, Of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.composite.intervals import PerformanceRun
    from assay.analysis.composite.played import Played
    from assay.analysis.whatif.timing import TimedOperation

UNROUNDED = "not rounded"
IN_ORDER = (POWER, THROUGHPUT, COMPOSITE)
BOTH_TESTS = (
    "In the throughput test each execution of an operation changes by the same factor as in the"
    " power test, and each stream goes on as it did, so the one that ends last decides; left open"
    " is that all streams gain alike, because they share the machine."
)


def metrics_of_test(test: Played, operations: Sequence[TimedOperation]) -> tuple[Metric, ...]:
    """Return the metrics of a TPC-H test, as functions of the times of its operations."""
    model = _Model(test, [(operation.name, operation.seconds) for operation in operations])
    forms = (model.metric, model.unrounded) if test.rounding_dominates else (model.metric,)
    return tuple(form(kind) for kind in IN_ORDER if kind in test.metrics for form in forms)


class _Model:
    """A TPC-H test as a function of its operations' times."""

    def __init__(self, test: Played, times: Sequence[tuple[str, float]]) -> None:
        self._test = test
        self._times = times
        self._reported = test.reported

    def metric(self, kind: str) -> Metric:
        """Return one TPC-H metric as a function of operation times."""
        name = self._test.named(kind)

        def rounded(seconds: Sequence[float]) -> float:
            runs = [run.scaled(self._factors(seconds)) for run in self._test.runs]
            run = reported_run(runs, self._test.scale)
            return value(figures(run, self._test.scale), kind)

        def smooth(seconds: Sequence[float]) -> float:
            return value(self._smooth(seconds), kind)

        def shared(seconds: Sequence[float]) -> float:
            return value(self._shared(seconds), kind)

        also: tuple[Of, ...] = () if kind == POWER else (shared,)
        return Metric(
            f"test_{kind}_per_h", name.label, name.title, "/h", "higher", rounded, smooth, also
        )

    def unrounded(self, kind: str) -> Metric:
        """Return a TPC-H metric with unrounded intervals, for the reported run."""
        name, rounded = self._test.named(kind), self.metric(kind)
        title = f"{name.title}, of intervals that are not rounded"
        smooth = rounded.smooth
        assert smooth is not None  # noqa: S101 - each has one
        return replace(
            rounded, name=f"{rounded.name}_unrounded", label=UNROUNDED, title=title, of=smooth
        )

    def _factors(self, seconds: Sequence[float]) -> dict[str, float]:
        pairs = zip(self._times, seconds, strict=True)
        return {name: after / before for (name, before), after in pairs if before > 0}

    def _smooth(self, seconds: Sequence[float]) -> Figures:
        """Return TPC-H metrics without rounding, so that slopes can be computed."""
        return figures(self._run.scaled(self._factors(seconds)), self._test.scale, rounded=False)

    def _shared(self, seconds: Sequence[float]) -> Figures:
        """Return TPC-H metrics if each query stream saves the same share of its time."""
        run, factors = self._run, self._factors(seconds)
        after = figures(run.scaled(factors), self._test.scale, rounded=False)
        before = figures(run, self._test.scale, rounded=False)
        if run.throughput is None or before.throughput is None:
            return after
        busy_ns, left_ns = (
            sum(stream.busy_ns for stream in streams)
            for streams in (
                run.throughput.sessions,
                [stream.scaled(factors) for stream in run.throughput.sessions],
            )
        )
        return Figures(after.power, before.throughput * busy_ns / left_ns if left_ns else None)

    @property
    def _run(self) -> PerformanceRun:
        assert self._reported is not None  # noqa: S101 - asked for before
        return self._reported


def value(run_figures: Figures, kind: str) -> float:
    """Return the value of a TPC-H metric; infinity if it has none."""
    power, throughput = run_figures.power, run_figures.throughput
    if kind == COMPOSITE:
        are_known = power is not None and throughput is not None
        return composite(power or 0.0, throughput or 0.0) if are_known else float("inf")
    figure = power if kind == POWER else throughput
    return float("inf") if figure is None else figure
