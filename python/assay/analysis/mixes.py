"""The mixes of a run whose clients play an order by themselves, and whether they became steady."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from assay.analysis.load import measured_phase
from assay.analysis.operations import NS
from assay.analysis.steady_state import Batch, Mark, SteadyState, batched, judged
from assay.record.layout import MIXES_STREAM, PHASE_MEASURED, PHASE_WARMUP

if TYPE_CHECKING:
    import polars as pl

    from assay.record.reader import Run


@dataclass(frozen=True)
class Mixes:
    """Mixes of all clients together.

    Attributes:
        clients: Who play them.
        warmup_mixes: That ended before the measured ones.
        mixes: Measured ones that ended.
        mixes_max: To how many they were to go on until they were steady; None: they were not.
        rate_per_s: Mixes a second, over everything measured; None of fewer than one.
        rate_name, rate_seconds: What the workload calls the mixes in so many seconds; empty: none.
        why_no_reads: Why it is not known what the engine read for them; None where it is.
        state: Whether they became steady.
        warmup: The mixes before, in batches like those of the measured ones.
    """

    clients: int
    warmup_mixes: int
    mixes: int
    mixes_max: int | None
    rate_per_s: float | None
    rate_name: str
    rate_seconds: float
    why_no_reads: str | None
    state: SteadyState
    warmup: tuple[Batch, ...] = ()

    def facts(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "clients": self.clients,
            "warmup_mixes": self.warmup_mixes,
            "mixes": self.mixes,
            "mixes_max": self.mixes_max,
            "rate_name": self.rate_name,
            "rate_seconds": self.rate_seconds,
            "all_per_s": self.rate_per_s,
            "why_no_reads": self.why_no_reads,
            **self.state.facts(),
            "warmup": [asdict(one) for one in self.warmup],
        }


def mixes_of(run: Run) -> Mixes | None:
    """What is known of a run's mixes; None where clients play no order, or nobody marked them."""
    phase = measured_phase(run.facts)
    if not phase.get("in_order") or not run.has(MIXES_STREAM):
        return None
    marked, clients = run.table(MIXES_STREAM), int(phase["arrival"]["clients"])
    warmup, measured = _marks(marked, PHASE_WARMUP), _marks(marked, PHASE_MEASURED)
    told = run.facts["workload"].get("sequence") or {}
    return Mixes(
        clients=clients,
        warmup_mixes=warmup[-1].mixes if warmup else 0,
        mixes=measured[-1].mixes if measured else 0,
        mixes_max=phase.get("passes_max") or None,
        rate_per_s=_rate(measured),
        rate_name=told.get("rate", ""),
        rate_seconds=told.get("seconds", 1.0),
        why_no_reads=(run.facts.get("mixes") or {}).get("why_no_reads"),
        state=judged(measured, clients),
        warmup=batched(warmup, clients),
    )


def _rate(marks: list[Mark]) -> float | None:
    if not marks or marks[-1].time_ns <= marks[0].time_ns:
        return None
    seconds = (marks[-1].time_ns - marks[0].time_ns) * NS
    return (marks[-1].mixes - marks[0].mixes) / seconds


def _marks(marked: pl.DataFrame, phase: str) -> list[Mark]:
    """The marks of one phase, in their order."""
    mine = marked.filter(marked["phase"].cast(str) == phase)
    columns = ("mixes", "time_ns", "asked_bytes", "fetched_bytes")
    return [Mark(*row) for row in mine.select(columns).iter_rows()]
