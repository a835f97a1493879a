"""Reads the CPU samples to export, with facts that only the record has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.profile.samples import read_profile
from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from assay.analysis.profile.profile import Profile
    from assay.record.reader import Run

ARTEFACT = "artefact"


@dataclass(frozen=True)
class Source:
    """CPU samples of a run to export, with their times and thread names.

    Attributes:
        run: Id of the run.
        title: Workload and engine, for readers.
        wall_minus_monotonic_ns: Offset in ns from the record's monotonic clock to the wall clock.
        machine: Name of the machine's instruction set; empty if unknown.
        operation: Name of the only exported operation; None means all.
        profile: The CPU samples.
        places: Location of each frame: frame, module, address.
        modules: Files with code: module, path, build_id.
        threads: Names of threads: pid, tid, name.
    """

    run: str
    title: str
    wall_minus_monotonic_ns: int
    machine: str
    operation: str | None
    profile: Profile
    places: pl.DataFrame
    modules: pl.DataFrame
    threads: pl.DataFrame

    @cached_property
    def samples(self) -> pl.DataFrame:
        """Return the CPU samples within operations, or within one, by time."""
        within = pl.col("operation").is_not_null()
        if self.operation is not None:
            within = pl.col("operation") == self.operation
        names = pl.col("operation", "work").cast(pl.String)
        samples = self.profile.samples.filter(within).with_columns(names).sort("time_ns")
        return samples.with_columns(pl.col("work").fill_null(ARTEFACT))

    @property
    def period_ns(self) -> int:
        """Return the CPU time in ns that each sample represents."""
        return round(self.profile.seconds_each * 1e9)

    def thread_name(self, pid: int, tid: int) -> str:
        """Return the name of a thread; its id if the name is not known."""
        return self._thread_names.get((pid, tid)) or f"thread {tid}"

    @cached_property
    def _thread_names(self) -> dict[tuple[int, int], str]:
        rows = self.threads.select("pid", "tid", pl.col("name").cast(pl.String)).iter_rows()
        return {(pid, tid): name for pid, tid, name in rows}


def read_source(run: Run, operation: str | None = None) -> Source:
    """Return the exported data of a run's profile.

    Raises:
        UsageError: If the run was not profiled, or has no samples of the operation.
        RecordUnreadableError: If a stream is damaged.
    """
    profile = read_profile(run)
    if profile is None:
        raise UsageError(
            f"the run {run.id} has no CPU profile: measure again with `assay run ... --profile`."
        )
    facts = run.facts
    source = Source(
        run=run.id,
        title=f"{facts['workload']['name']} on {facts['engine']['title']}",
        wall_minus_monotonic_ns=int(facts["wall_minus_monotonic_ns"]),
        machine=str(run.environment.get("host", {}).get("machine") or ""),
        operation=operation,
        profile=profile,
        places=run.table("frames"),
        modules=run.table("modules"),
        threads=run.table("threads"),
    )
    if source.samples.is_empty():
        raise UsageError(_no_samples(profile, operation))
    return source


def _no_samples(profile: Profile, operation: str | None) -> str:
    named = profile.passes["operation"].cast(pl.String)
    if operation is None:
        return "no sample fell into an operation: measure longer, with --min-time."
    if operation in named:
        return f"no sample fell into {operation}: measure longer, with --min-time."
    return f"no operation {operation!r} was measured; {suggestion(operation, sorted(set(named)))}"
