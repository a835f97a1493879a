"""Finds the extra time of each operation's first execution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.composite.figures import figures
from assay.analysis.findings.operation_shares import names_text
from assay.analysis.operations import is_measured
from assay.model.finding import Evidence, Finding, Tells
from assay.model.units import bytes_text, count_text, percent_text, seconds_text
from assay.record.layout import PHASE_POWER, PHASE_THROUGHPUT, PHASE_WARMUP

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

METHOD = "first-run"
# An excess of a smaller share of the later time is not reported.
LONGER_MIN = 0.2
# For shorter executions, the precision of the clock matters.
SECONDS_MIN = 0.05
NAMED_OPERATIONS = 3
# Any two power tests may differ by this share.
RUNS_APART_MIN = 0.05
RUNS = 2
COUNTED_MIN_S = 0.01
ADVICE = (
    "give the engine a cache for all data that the first run read, because the slower of two "
    "runs is reported"
)
FIGURES = ("seconds", "system_s", "minor_faults", "read_bytes")
# The kernel is named if it is this share of the excess. A smaller share is usual.
KERNEL_SHARE = 0.2


def find(case: Case) -> list[Finding]:
    """Return findings of the extra time of first executions and of a first power test.

    The result is empty under a load, and for a throughput test alone, whose streams share the
    machine and have different parameters.
    """
    powers = _phases(case.executions, PHASE_POWER)
    streams_only = not powers and _phases(case.executions, PHASE_THROUGHPUT)
    if case.load is not None or streams_only:
        return []
    if len(powers) < RUNS:
        return _first_executions(case)
    # Without a warm-up, the first power test contains the first executions.
    warmed = PHASE_WARMUP in case.executions["phase"]
    return [*(_first_executions(case) if warmed else []), *_first_power_test(case, powers)]


def _first_executions(case: Case) -> list[Finding]:
    refreshes = () if case.test is None else case.test.refreshes
    queries = case.executions.filter(~pl.col("operation").is_in(refreshes))
    by_operation = first_and_later(queries)
    if by_operation.is_empty():
        return []
    sums = _sums(by_operation)
    excess_s = sums["seconds"] - sums["later_seconds"]
    if excess_s < max(SECONDS_MIN, LONGER_MIN * sums["later_seconds"]):
        return []
    in_warm_up = bool(by_operation["in_warm_up"].all())
    excess = pl.col("seconds") - pl.col("later_seconds")
    names = _most_first(by_operation, excess)
    when = ", in the warm-up," if in_warm_up else ""
    # Time in the warm-up is not a cause of time in the measured part.
    tells: Tells = "shape" if in_warm_up else "cause"
    finding = Finding(
        claim=(
            f"First executions{when} took {seconds_text(excess_s)} longer than later ones"
            f" ({percent_text(excess_s / sums['later_seconds'])}), most of it in"
            f" {names_text(names)}{_why(sums, excess_s)}"
        ),
        effect_share=_share(excess_s, case.executions),
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        to_try=_to_try(case, in_warm_up=in_warm_up),
        tells=tells,
        operations=tuple(names[:NAMED_OPERATIONS]),
        evidence=(Evidence(_figures(sums), "timeline"),),
    )
    return [finding]


def _to_try(case: Case, *, in_warm_up: bool) -> str | None:
    # Additional passes before a test would change the names of its metrics.
    if in_warm_up or case.test is not None:
        return None
    if case.asked_to_read:
        return f"use --state hot to measure later executions: this run had --state {case.state}"
    return "run an unmeasured pass first: later passes have allocated their memory already"


def _first_power_test(case: Case, powers: list[str]) -> list[Finding]:
    """Return a finding of the extra time of the first of two power tests.

    The geometric mean weighs ratios of times, so short operations matter as much as long ones.
    Times below 0.01 s count as 0.01 s.
    """
    by_operation = first_and_second(case.executions, *powers[:RUNS])
    if by_operation.is_empty():
        return []
    sums = _sums(by_operation)
    excess_s = sums["seconds"] - sums["later_seconds"]
    counted = (pl.col(name).clip(COUNTED_MIN_S) for name in ("seconds", "later_seconds"))
    times = next(counted) / next(counted)
    metric, longer = _second_is_better(case), excess_s / sums["later_seconds"]
    if max(metric or 0.0, longer) < RUNS_APART_MIN or excess_s < SECONDS_MIN:
        return []
    names = _most_first(by_operation, times)
    cost = (
        "" if metric is None or metric <= 0 else f", whose power is {percent_text(metric)} higher"
    )
    finding = Finding(
        claim=(
            f"The first power test took {seconds_text(excess_s)} longer than the second"
            f" ({percent_text(longer)}){cost}; most of it in "
            f"{names_text(names)}{_why(sums, excess_s)}"
        ),
        effect_share=_share(excess_s, case.executions),
        interval=None,
        runs=(case.run_id,),
        method=METHOD,
        to_try=None if case.asked_to_read else ADVICE,
        operations=tuple(names[:NAMED_OPERATIONS]),
        evidence=(Evidence(_figures(sums), "timeline"),),
    )
    return [finding]


def _second_is_better(case: Case) -> float | None:
    """Return the relative gain of the second power test's metric over the first test's.

    The result is None if the test has no metric.
    """
    if case.test is None or case.test.why_not:
        return None
    powers = [figures(run, case.test.scale).power for run in case.test.runs[:RUNS]]
    first, second = powers if len(powers) == RUNS else (None, None)
    return second / first - 1 if first and second else None


def _phases(executions: pl.DataFrame, kind: str) -> list[str]:
    """Return the names of the power or throughput phases, ordered by number."""
    phases: list[str] = executions["phase"].unique().to_list()
    return sorted(phase for phase in phases if phase.startswith(f"{kind}-"))


def _sums(by_operation: pl.DataFrame) -> dict[str, Any]:
    return by_operation.select(pl.exclude("operation", "in_warm_up").sum()).row(0, named=True)


def _most_first(by_operation: pl.DataFrame, by: pl.Expr) -> list[str]:
    ordered = by_operation.with_columns(by.alias("by")).sort(
        "by", "operation", descending=[True, False]
    )
    names: list[str] = ordered["operation"].to_list()
    return names


def _share(excess_s: float, executions: pl.DataFrame) -> float:
    """Return the extra time of first executions as a share of all executions that ran alone."""
    alone = (pl.col("phase") == PHASE_WARMUP) | is_measured(executions)
    whole_s = float(executions.filter(alone)["seconds"].sum())
    return min(1.0, excess_s / whole_s) if whole_s > 0 else 0.0


def first_and_second(executions: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    """Return a row of first and later times per operation of two phases."""
    parts = []
    for phase, lead in ((first, ""), (second, "later_")):
        figures = [pl.col(name).first().alias(f"{lead}{name}") for name in FIGURES]
        rows = executions.filter(pl.col("phase") == phase)
        parts.append(rows.group_by("operation", maintain_order=True).agg(figures))
    joined = parts[0].join(parts[1], on="operation", how="inner", maintain_order="left")
    both_timed = (pl.col("later_seconds") > 0) & (pl.col("seconds") > 0)
    return joined.filter(both_timed).with_columns(pl.lit(value=False).alias("in_warm_up"))


def first_and_later(executions: pl.DataFrame) -> pl.DataFrame:
    """Return a row of first and later times per operation that was executed more than once.

    Columns: operation, in_warm_up (whether the first execution was in the warm-up); seconds,
        system_s, minor_faults, read_bytes of the first execution; the same as later_* for the
        median of later ones. Missing values are null.
    """
    phases = (pl.col("phase") == PHASE_WARMUP) | is_measured(executions)
    # Executions are sorted by their start time.
    return (
        executions.filter(phases)
        .group_by("operation", maintain_order=True)
        .agg(
            (pl.col("phase").first() == PHASE_WARMUP).alias("in_warm_up"),
            pl.len().alias("executions"),
            *(pl.col(name).first() for name in FIGURES),
            *(pl.col(name).slice(1).median().alias(f"later_{name}") for name in FIGURES),
        )
        .filter((pl.col("executions") > 1) & (pl.col("later_seconds") > 0))
        .drop("executions")
    )


def _grown(sums: dict[str, Any], name: str) -> float:
    return float((sums[name] or 0.0) - (sums[f"later_{name}"] or 0.0))


def _why(sums: dict[str, Any], excess_s: float) -> str:
    """Return text on the counters that were higher in the first execution."""
    parts = []
    system_s, faults = _grown(sums, "system_s"), _grown(sums, "minor_faults")
    if system_s > 0:
        parts.append(
            f"{percent_text(min(1.0, system_s / excess_s))} of the difference is kernel time"
        )
    if faults > 0:
        parts.append(f"{count_text(faults)} more page faults")
    if _grown(sums, "read_bytes") > 0:
        parts.append(f"{bytes_text(_grown(sums, 'read_bytes'))} more read from storage")
    return f": {', '.join(parts)}" if parts else ""


def _figures(sums: dict[str, Any]) -> str:
    first, later = seconds_text(sums["seconds"]), seconds_text(sums["later_seconds"])
    return f"all operations once took {first} the first time and {later} later"
