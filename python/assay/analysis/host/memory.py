"""Measures the memory of operations: resident, proportional, and by the engine's own count."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.operations import measured, plain, window_of
from assay.analysis.plans.recorded import read_plans
from assay.record.layout import ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER, PHASE_AFTER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.record.reader import Run

SAMPLES = {"time_ns": pl.Int64, "rss_bytes": pl.Int64, "pss_bytes": pl.Int64}


@dataclass(frozen=True)
class Peak:
    """The peak of memory use that was sampled or reported. Unknown values are None.

    Attributes:
        rss_bytes: Resident memory. Memory that processes share counts once.
        pss_bytes: Sum of the processes' proportional set sizes (PSS).
        engine_bytes: Memory that the engine reported with the plan.
    """

    rss_bytes: int | None = None
    pss_bytes: int | None = None
    engine_bytes: int | None = None


def memory_peaks(run: Run, *, under_load: bool = False) -> tuple[dict[str, Peak], Peak]:
    """Return the memory peaks of each operation, and of the whole measured part.

    Samples belong to one operation only if operations do not overlap. If operations overlap, as
    under a load, only the peak of the whole is known, and the engine's own figure for each
    operation.
    """
    samples = engine_samples(run)
    engine_bytes = _engine_bytes(run)
    seen = {} if under_load else _seen(run, samples)
    peaks = {
        name: _with_engine(seen.get(name, Peak()), engine_bytes.get(name))
        for name in {**seen, **engine_bytes}
    }
    return peaks, _whole(run, samples, peaks)


def _seen(run: Run, samples: pl.DataFrame) -> dict[str, Peak]:
    events = measured(run.table("events"))
    tasks = run.table("tasks") if run.has("tasks") else None
    if not _is_serial(events):
        return {}
    return _with_later(_of_operations(events, samples, tasks), _later_pss_bytes(run, tasks))


def _later_pss_bytes(run: Run, tasks: pl.DataFrame | None) -> dict[str, int]:
    """Return proportional set sizes in bytes by operation, from an untimed repetition."""
    events = run.table("events").filter(pl.col("phase").cast(pl.String) == PHASE_AFTER)
    if tasks is None or events.is_empty():
        return {}
    read = plain(events).filter(pl.col("outcome") == "ok").join(tasks, on="sequence")
    most = read.drop_nulls("pss_bytes").group_by("operation").agg(pl.col("pss_bytes").max())
    return dict(most.select("operation", pl.col("pss_bytes").cast(pl.Int64)).iter_rows())


def _with_later(seen: dict[str, Peak], later: Mapping[str, int]) -> dict[str, Peak]:
    return {
        name: replace(peak, pss_bytes=_most([peak.pss_bytes, later.get(name)]))
        for name, peak in seen.items()
    }


def engine_samples(run: Run) -> pl.DataFrame:
    """Return the memory of all processes of the engine at each sample.

    `pss_bytes` is null in samples that did not read it. The sum covers the processes that
    reported their PSS.
    """
    if not run.has("processes"):
        return pl.DataFrame(schema=SAMPLES)
    rows = run.table("processes")
    for column in ("pss_bytes", "rss_shared_bytes"):
        if column not in rows.columns:
            rows = rows.with_columns(pl.lit(None, dtype=pl.UInt64).alias(column))
    shared = pl.col("rss_shared_bytes").cast(pl.Int64).fill_null(0)
    pss = pl.col("pss_bytes").cast(pl.Int64)
    ours = pl.col("account").cast(pl.String).is_in([ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER])
    return (
        rows.filter(ours)
        .group_by("time_ns", maintain_order=True)
        .agg(
            ((pl.col("rss_bytes").cast(pl.Int64) - shared).sum() + shared.max()).alias("rss_bytes"),
            pl.when(pss.is_not_null().any()).then(pss.sum()).alias("pss_bytes"),
        )
        .sort("time_ns")
    )


def _is_serial(events: pl.DataFrame) -> bool:
    """Return True if no two executions overlap in time."""
    done = events.drop_nulls(["started_ns", "finished_ns"]).sort("started_ns")
    overlaps = done["started_ns"].shift(-1) < done["finished_ns"]
    return not overlaps.any()


def _of_operations(
    events: pl.DataFrame, samples: pl.DataFrame, tasks: pl.DataFrame | None
) -> dict[str, Peak]:
    """Return the memory peak of each operation, from samples and readings around it."""
    timed = (
        events.filter(pl.col("outcome") == "ok")
        .select("sequence", "operation", "started_ns", "finished_ns")
        .sort("started_ns")
    )
    within = samples.join_asof(
        timed, left_on="time_ns", right_on="started_ns", strategy="backward"
    ).filter(pl.col("time_ns") <= pl.col("finished_ns"))
    seen = [within.select("operation", "rss_bytes", "pss_bytes")]
    if tasks is not None:
        read = tasks.filter(pl.col("edge").cast(pl.String) == "end").join(timed, on="sequence")
        highest = pl.coalesce("rss_peak_bytes", "rss_bytes").cast(pl.Int64).alias("rss_bytes")
        seen.append(read.select("operation", highest, pl.col("pss_bytes").cast(pl.Int64)))
        if read["rss_peak_bytes"].null_count() < read.height:
            # The kernel itself keeps the peak of exactly this interval.
            seen[0] = seen[0].with_columns(pl.lit(None, dtype=pl.Int64).alias("rss_bytes"))
    peaks = pl.concat(seen).group_by("operation").agg(pl.col("rss_bytes", "pss_bytes").max())
    return {name: Peak(rss, pss) for name, rss, pss in peaks.iter_rows()}


def _engine_bytes(run: Run) -> dict[str, int]:
    """Return the memory in bytes that the engine reports for each operation's largest statement."""
    plan_bytes = {
        name: [plan.memory_bytes for plan in plans if plan.memory_bytes is not None]
        for name, plans in read_plans(run).items()
    }
    return {name: max(sizes) for name, sizes in plan_bytes.items() if sizes}


def _with_engine(peak: Peak, engine_bytes: int | None) -> Peak:
    return Peak(peak.rss_bytes, peak.pss_bytes, engine_bytes)


def _whole(run: Run, samples: pl.DataFrame, by_operation: Mapping[str, Peak]) -> Peak:
    window = window_of(run)
    inside = samples.clear() if window is None else samples
    if window is not None:
        inside = samples.filter(pl.col("time_ns").is_between(*window))
    peaks = list(by_operation.values())
    return Peak(
        _most([*inside["rss_bytes"], *(peak.rss_bytes for peak in peaks)]),
        _most([*inside["pss_bytes"], *(peak.pss_bytes for peak in peaks)]),
        _most([peak.engine_bytes for peak in peaks]),
    )


def _most(sizes: list[int | None]) -> int | None:
    return max((size for size in sizes if size is not None), default=None)
