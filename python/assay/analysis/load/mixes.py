"""Finds the query mixes that clients executed in a fixed order, and when they became steady."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, pairwise
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from assay.analysis.load.sequences import Sequence, sequence_of
from assay.analysis.load.steady_state import Batch, Mark, SteadyState, batched, judged
from assay.analysis.load_plan import measured_phase
from assay.analysis.operations import NS
from assay.record.layout import MIXES_STREAM, PHASE_MEASURED, PHASE_WARMUP

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from assay.record.reader import Run

# Counter with the bytes that the engine itself read into its cache.
COUNTED = "buffer_read_bytes"


@dataclass(frozen=True)
class Mixes:
    """The query mixes that all clients executed together.

    Attributes:
        clients: Number of clients that execute mixes.
        warmup_mixes: Number of mixes that ended before the measured ones.
        mixes: Number of measured mixes that ended.
        mixes_max: Maximum number of mixes for a run that continues until mixes are steady. None
            for any other run.
        rate_per_s: Mixes per second over all measured mixes; None means no complete mix.
        why_no_reads: Reason why the bytes that the engine read are not known; None if they are
            known.
        state: Steadiness of the mixes.
        warmup: Mixes of the warm-up, in batches of the same kind as the measured ones.
        figures: The specification's figures as (name, value in the steady part, value over all
            measured mixes); empty if the specification names none, or all mixes are steady.
        counted: Bytes per mix that the engine counted as read into its cache: (mean before the
            steady part, median within it); None if the engine has no such counter, or it was not
            read.
    """

    clients: int
    warmup_mixes: int
    mixes: int
    mixes_max: int | None
    rate_per_s: float | None
    why_no_reads: str | None
    state: SteadyState
    warmup: tuple[Batch, ...] = ()
    figures: tuple[tuple[str, float, float], ...] = ()
    counted: tuple[float | None, float] | None = None

    def facts(self) -> dict[str, Any]:
        """Return the query mixes as JSON values."""
        return {
            "clients": self.clients,
            "warmup_mixes": self.warmup_mixes,
            "mixes": self.mixes,
            "mixes_max": self.mixes_max,
            "figures": [
                {"name": name, "steady": there, "all": whole} for name, there, whole in self.figures
            ],
            "all_per_s": self.rate_per_s,
            "why_no_reads": self.why_no_reads,
            **self.state.facts(),
            "warmup": [asdict(batch) for batch in self.warmup],
            "counted": None
            if self.counted is None
            else dict(zip(("before", "level"), self.counted, strict=True)),
        }


def mixes_of(
    run: Run, engine: Mapping[str, Any] | None = None, whole: Sequence | None = None
) -> Mixes | None:
    """Return the query mixes of a run; None if clients executed no fixed order.

    Args:
        run: The run.
        engine: The engine's counters, from `engine_counters`.
        whole: All measured mixes with the specification's figures; None means that the
            specification names no figures.
    """
    phase = measured_phase(run.facts)
    if not phase.get("in_order") or not run.has(MIXES_STREAM):
        return None
    marked, clients = run.table(MIXES_STREAM), int(phase["arrival"]["clients"])
    warmup, measured = _marks(marked, PHASE_WARMUP), _marks(marked, PHASE_MEASURED)
    noted = run.facts.get("mixes") or {}
    # A run that stops when mixes are steady is judged at that moment, although clients completed
    # more mixes afterwards.
    enough = noted.get("enough")
    counted = measured if enough is None else [mark for mark in measured if mark.mixes <= enough]
    state = judged(counted, clients)
    batches = _with_counted(state.batches, engine)
    return Mixes(
        clients=clients,
        warmup_mixes=warmup[-1].mixes if warmup else 0,
        mixes=measured[-1].mixes if measured else 0,
        mixes_max=phase.get("passes_max") or None,
        rate_per_s=_rate(measured),
        why_no_reads=noted.get("why_no_reads"),
        state=replace(state, batches=batches),
        warmup=batched(warmup, clients),
        counted=_counted(batches, state.begins or 0),
        figures=_figures(run, whole, state, counted),
    )


def steady_since_ns(run: Run) -> int | None:
    """Return the time in ns of CLOCK_MONOTONIC at which a run's query mixes became steady.

    The time is None if mixes did not become steady, or were steady from the first measured mix
    on.
    """
    mixes = mixes_of(run)
    if mixes is None or not mixes.state.steady or not mixes.state.begins:
        return None
    begun = _marks(run.table(MIXES_STREAM), PHASE_MEASURED)[0]
    return begun.time_ns + round(mixes.state.batches[mixes.state.begins].begin_s / NS)


def _figures(
    run: Run, whole: Sequence | None, state: SteadyState, marks: list[Mark]
) -> tuple[tuple[str, float, float], ...]:
    """Return (name, value in the steady part, value over all query mixes) of main quantities."""
    if whole is None or not state.steady or not state.begins:
        return ()
    since_ns = marks[0].time_ns + round(state.batches[state.begins].begin_s / NS)
    there = sequence_of(run, since_ns)
    values = {} if there is None else {metric.name: metric.value for metric in there.metrics}
    named = [metric for metric in whole.metrics if metric.name in values]
    return tuple((metric.name, values[metric.name], metric.value) for metric in named)


def _with_counted(
    batches: tuple[Batch, ...], engine: Mapping[str, Any] | None
) -> tuple[Batch, ...]:
    """Return batches of query mixes with the bytes that the engine counted as read."""
    times_s, read = _read_until(engine)

    def until(moment_s: float) -> float | None:
        place = bisect_left(times_s, moment_s)
        if not 0 < place < len(times_s):
            return None
        share = (moment_s - times_s[place - 1]) / (times_s[place] - times_s[place - 1])
        return read[place - 1] + share * (read[place] - read[place - 1])

    def of(batch: Batch) -> float | None:
        begin, end = until(batch.begin_s), until(batch.end_s)
        return None if begin is None or end is None else (end - begin) / batch.mixes

    return tuple(replace(batch, counted=of(batch)) for batch in batches)


def _read_until(engine: Mapping[str, Any] | None) -> tuple[list[float], list[float]]:
    """Return the reading times in seconds, and the bytes read into the engine's cache by then.

    Times and bytes are empty if a reading is missing or the counter was reset, because the
    growth is not known.
    """
    figures = (engine or {}).get("series", ())
    series = next((figure for figure in figures if figure["name"] == COUNTED), None)
    if series is None or None in series["values"][1:]:
        return [], []
    times_s: list[float] = series["time_s"]
    grown = [
        per_s * (after_s - before_s)
        for (before_s, after_s), per_s in zip(pairwise(times_s), series["values"][1:], strict=True)
    ]
    return times_s, list(accumulate(grown, initial=0.0))


def _counted(batches: tuple[Batch, ...], begins: int) -> tuple[float | None, float] | None:
    """Return the mean of the engine's counter before the steady part, and its median within it."""
    before = [batch.counted for batch in batches[:begins] if batch.counted is not None]
    there = [batch.counted for batch in batches[begins:] if batch.counted is not None]
    return (mean(before) if before else None, median(there)) if there else None


def _rate(marks: list[Mark]) -> float | None:
    if not marks or marks[-1].time_ns <= marks[0].time_ns:
        return None
    seconds = (marks[-1].time_ns - marks[0].time_ns) * NS
    return (marks[-1].mixes - marks[0].mixes) / seconds


def _marks(marked: pl.DataFrame, phase: str) -> list[Mark]:
    """Return the numbers of query mixes finished so far in one phase, by time of recording."""
    mine = marked.filter(marked["phase"].cast(str) == phase)
    columns = ("mixes", "time_ns", "asked_bytes", "fetched_bytes")
    return [Mark(*row) for row in mine.select(columns).iter_rows()]
