"""Makes the document section `test` of a run: a TPC-H test."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Literal, cast

from assay.analysis.composite.figures import (
    counted_elapsed_s,
    counted_power_s,
    figures,
)
from assay.analysis.composite.memory import FORMULA, at_larger_scales, memory_peaks
from assay.analysis.composite.naming import COMPOSITE, NO_ANSWERS, POWER, THROUGHPUT
from assay.analysis.composite.played import played
from assay.analysis.composite.rounding import reported
from assay.analysis.composite.sensitivity import interval_weights
from assay.analysis.composite.utilisation import utilisation
from assay.analysis.operations import NS
from assay.model.units import percent_text
from assay.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.analysis.composite.figures import Figures
    from assay.analysis.composite.intervals import Interval, PerformanceRun
    from assay.analysis.composite.played import Played
    from assay.analysis.composite.steady import Steady
    from assay.analysis.composite.utilisation import Utilisation
    from assay.analysis.summary import Summary
    from assay.model.verdict import CheckResult
    from assay.record.reader import Run
    from assay.report.documents.figures import MetricKey
    from assay.report.documents.load.specified import (
        PassTimes,
        QueryMemory,
        QueryMemoryPeak,
        SpecifiedInterval,
        SpecifiedKind,
        SpecifiedMetric,
        SpecifiedRun,
        SpecifiedStream,
        SpecifiedTestSection,
        SpecifiedWeight,
        SteadyPasses,
        UtilisationRow,
    )

UNIT: Literal["/h"] = "/h"
ROUNDING_DOMINATES = (
    "more than a tenth of the power test's intervals are under 0.1 s, so rounding to 0.01 s "
    "distorts the metric: read the unrounded figure"
)


def judged(test: Played, checks: Iterable[CheckResult]) -> Played:
    """Return a TPC-H test with deviations found by checks, which change its metrics' names."""
    if test.why_not:
        return test
    verdicts = {check.check: check.verdict for check in checks}
    reasons = []
    if Verdict.INVALID in verdicts.values():
        reasons.append("no valid run")
    elif verdicts.get("answers") != Verdict.VALID and NO_ANSWERS not in test.left_out:
        reasons.append("answers not verified")
    return replace(test, left_out=(*test.left_out, *reasons))


def section_of_test(
    run: Run, summary: Summary, checks: Iterable[CheckResult]
) -> SpecifiedTestSection | None:
    """Return the document section on a run's TPC-H test; None without one.

    Args:
        run: The run.
        summary: Summary of the run.
        checks: Results of the run's checks, which decide whether metrics have official names.
    """
    known_test = played(run)
    if known_test is None:
        return None
    test = judged(known_test, checks)
    facts = run.facts["test"]
    return {
        "kind": cast("SpecifiedKind", test.kind),
        "streams": facts["streams"],
        "streams_minimum": facts["streams_minimum"],
        "scale_standard": facts["scale_standard"],
        "parameters": facts["parameters"],
        "seed": facts["seed"],
        "refresh": facts["refresh"],
        "metrics": _metrics(test),
        "why_not": list(test.why_not),
        "left_out": list(test.left_out),
        "rounding_dominates": test.rounding_dominates,
        "warnings": _warnings(test),
        "reported_run": None if test.reported is None else test.reported.number,
        "runs": [_run(performance, test) for performance in test.runs],
        "sensitivity": _sensitivity(test),
        "utilisation": [
            _utilisation(used)
            for performance in test.runs
            if not test.why_not and (used := utilisation(performance)) is not None
        ],
        "memory": None if test.why_not else _memory(run, test, summary),
        "steady": None if test.steady is None else _steady(test.steady),
    }


def _metrics(test: Played) -> list[SpecifiedMetric]:
    rounded, unrounded = test.figures(), test.figures(rounded=False)
    return [
        {
            "metric": cast("MetricKey", f"test_{kind}_per_h"),
            "label": test.named(kind).label,
            "title": test.named(kind).title,
            "is_not": test.named(kind).is_not,
            "unit": UNIT,
            "value": _reported(_figure(rounded, kind)),
            "unrounded": _figure(unrounded, kind),
        }
        for kind in test.metrics
    ]


def _figure(test_figures: Figures, kind: str) -> float | None:
    return {
        POWER: test_figures.power,
        THROUGHPUT: test_figures.throughput,
        COMPOSITE: test_figures.composite,
    }[kind]


def _reported(value: float | None) -> float | None:
    return None if value is None else reported(value)


def _warnings(test: Played) -> list[str]:
    sentences = [ROUNDING_DOMINATES] if test.rounding_dominates else []
    if not test.why_not and len(test.runs) > 1:
        sentences.append(_apart(test))
    return sentences


def _apart(test: Played) -> str:
    """Return text on how much the two runs of a TPC-H test differ."""
    of_runs = [figures(run, test.scale) for run in test.runs]
    shares = {
        kind: max(values) / min(values) - 1
        for kind in (COMPOSITE, POWER, THROUGHPUT)
        if len(values := [value for of_run in of_runs if (value := _figure(of_run, kind))]) > 1
    }
    differences = ", ".join(f"{kind} {percent_text(share)}" for kind, share in shares.items())
    return f"the runs differ by: {differences}; the lower composite counts"


def _run(run: PerformanceRun, test: Played) -> SpecifiedRun:
    metrics = None if test.why_not else figures(run, test.scale)
    elapsed_ns = None if run.throughput is None else run.throughput.elapsed_ns
    return {
        "run": run.number,
        "power_per_h": None if metrics is None else _reported(metrics.power),
        "throughput_per_h": None if metrics is None else _reported(metrics.throughput),
        "composite_per_h": None if metrics is None else _reported(metrics.composite),
        "power_seconds": None if run.power is None else run.power.seconds,
        "elapsed_seconds": None if elapsed_ns is None else elapsed_ns * NS,
        "elapsed_counted_seconds": (
            None if run.throughput is None else counted_elapsed_s(run.throughput)
        ),
        "power": _power_intervals(run),
        "throughput": _throughput_intervals(run),
    }


def _power_intervals(run: PerformanceRun) -> list[SpecifiedInterval]:
    """Return the query intervals of a TPC-H power test by start time."""
    if run.power is None or not run.power.queries:
        return []
    every = (*run.power.queries, *run.power.refreshes)
    counted = [seconds for part in counted_power_s(run.power) for seconds in part]
    begun_ns = min(interval.begun_ns for interval in every)
    rows = [
        _interval(interval, begun_ns) | {"counted_seconds": seconds}
        for interval, seconds in zip(every, counted, strict=True)
    ]
    return sorted(rows, key=lambda row: row["begun_seconds"])


def _throughput_intervals(run: PerformanceRun) -> list[SpecifiedStream]:
    """Return the query intervals of each stream of a TPC-H throughput test."""
    test = run.throughput
    if test is None:
        return []
    numbered = [*enumerate(test.streams, start=1)]
    sessions = [*numbered, *([(None, test.refreshes)] if test.refreshes is not None else [])]
    return [
        {
            "stream": number,
            "begun_seconds": (stream.begun_ns - test.begun_ns) * NS,
            "seconds": (stream.ended_ns - stream.begun_ns) * NS,
            "intervals": [_interval(interval, test.begun_ns) for interval in stream.intervals],
        }
        for number, stream in sessions
    ]


def _interval(interval: Interval, begun_ns: int) -> SpecifiedInterval:
    return {
        "operation": interval.operation,
        "variant": interval.variant,
        "begun_seconds": (interval.begun_ns - begun_ns) * NS,
        "seconds": interval.seconds,
    }


def _sensitivity(test: Played) -> list[SpecifiedWeight]:
    run = test.reported
    if run is None:
        return []
    return [
        {
            "operation": weight.operation,
            "power_seconds": weight.power_s,
            "throughput_seconds": weight.throughput_s,
            "power": weight.power,
            "throughput": weight.throughput,
            "composite": weight.composite,
            "seconds_min": weight.shortest_s,
            "seconds_max": weight.longest_s,
            "at_min": weight.at_shortest,
            "at_max": weight.at_longest,
        }
        for weight in interval_weights(run, test.powers, test.scale)
    ]


def _utilisation(used: Utilisation) -> UtilisationRow:
    return {
        "run": used.run,
        "power_seconds": used.power_s,
        "elapsed_seconds": used.elapsed_s,
        "streams": used.streams,
        "stream_seconds": used.stream_s,
        "share": used.share,
    }


def _memory(run: Run, test: Played, summary: Summary) -> QueryMemory | None:
    processes = run.table("processes") if run.has("processes") else None
    queries = [op for op in summary.operations if op.name not in test.refreshes]
    peaks = memory_peaks(test.runs, queries, processes)
    if not peaks:
        return None
    return {
        "formula": FORMULA,
        "peaks": [
            cast(
                "QueryMemoryPeak",
                asdict(peak) | {"larger": [asdict(row) for row in larger]},
            )
            for peak in peaks
            for larger in [at_larger_scales(peak, test.scale, test.larger)]
        ],
    }


def _steady(steady: Steady) -> SteadyPasses:
    figure = steady.figure
    return {
        "passes": [_pass(times.sum_s, times.geometric_mean_s) for times in steady.passes],
        "before": steady.before,
        "compared": len(steady.tests),
        "figure": None if figure is None else _pass(figure.sum_s, figure.geometric_mean_s),
    }


def _pass(sum_s: float, mean_s: float | None) -> PassTimes:
    return {"sum_seconds": sum_s, "geometric_mean_seconds": mean_s}
