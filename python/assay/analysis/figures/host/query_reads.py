"""Disk reads during a query in each run of a study, as the charts of the host use them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING

from assay.analysis.host.operation_reads import operation_reads, own_read_bytes
from assay.analysis.host.timeline import origin_ns
from assay.analysis.operations import NS, measured
from assay.analysis.quantities import SHARE, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.study_runs import StudyRun
    from assay.record.reader import Run

# With a larger share of the device's reads by other processes, its figures do not describe the
# query.
OTHERS_MAX = 0.1


@dataclass(frozen=True)
class QueryReads:
    """Mean time and disk reads of an operation's executions in one run; None if not observed.

    Attributes:
        operation: Name of the operation.
        seconds: Service time of the operation.
        reads: Number of read requests to the device.
        read_bytes: Bytes that the device read.
        mean_read_bytes: Mean size of a read in bytes.
        reads_per_s: Reads a second while the operation ran.
        read_bytes_per_s: Bytes read a second while the operation ran.
        util_share: Share of the operation's time in which the device was busy.
        usr_share, sys_share, iowait_share, idle_share, steal_share: Shares of the time of all CPUs.
    """

    operation: str
    seconds: float
    reads: float | None
    read_bytes: float | None
    mean_read_bytes: float | None
    reads_per_s: float | None
    read_bytes_per_s: float | None
    util_share: float | None
    usr_share: float | None
    sys_share: float | None
    iowait_share: float | None
    idle_share: float | None
    steal_share: float | None


FIELDS = tuple(name for name in QueryReads.__dataclass_fields__ if name != "operation")


@lru_cache(maxsize=256)
def query_reads(run: Run, operation: str | None = None) -> QueryReads | None:
    """Return the disk reads of one operation of a run, by default of the longest operation.

    The result is None if executions overlap, or if no execution succeeded.
    """
    rows = operation_reads(run)
    operations = rows["operation"].unique().to_list()
    if operation is None and operations:
        seconds = {
            name: rows.filter(operation=name)["seconds"].mean() or 0.0 for name in operations
        }
        operation = max(seconds, key=lambda name: float(str(seconds[name])))
    if operation not in operations:
        return None
    own = rows.filter(operation=operation)
    means = {name: own[name].mean() for name in FIELDS}
    return QueryReads(
        str(operation),
        **{name: _number(value) for name, value in means.items()},  # type: ignore[arg-type]
    )


@lru_cache(maxsize=256)
def others_share(run: Run, operation: str | None = None) -> float | None:
    """Return the share of device reads by processes other than the engine's; None if unknown.

    The device counts the reads of all programs, so its figures include reads of other processes.
    """
    reads = query_reads(run, operation)
    if reads is None or not reads.read_bytes:
        return None
    own_bytes = own_read_bytes(run, reads.operation)
    return None if own_bytes is None else max(0.0, 1 - own_bytes / reads.read_bytes)


def is_disturbed(run: Run, operation: str | None = None) -> bool:
    """Return True if other processes read too much to attribute the disk's reads to the query."""
    return (others_share(run, operation) or 0.0) > OTHERS_MAX


def disturbance_text(run: Run, operation: str | None = None) -> str:
    """Return text on the share of device reads by other processes."""
    share = text(others_share(run, operation), SHARE)
    return f"{share} of what the device read meanwhile was for others: repeat it where it is quiet"


def middle_run(runs: Sequence[StudyRun], operation: str | None) -> StudyRun:
    """Return the run with the median query time; the lower of two middle runs."""
    pairs = [(query_reads(run.run, operation), run) for run in runs]
    timed = sorted(
        ((reads.seconds, place) for place, (reads, _) in enumerate(pairs) if reads is not None)
    )
    if not timed:
        return runs[0]
    whole = median(seconds for seconds, _ in timed)
    return runs[min(timed, key=lambda pair: (abs(pair[0] - whole), pair))[1]]


def span_s(run: Run, operation: str | None) -> tuple[float, float] | None:
    """Return begin and end of an operation's first execution, in seconds of the measured part."""
    reads = query_reads(run, operation)
    if reads is None:
        return None
    events = measured(run.table("events"))
    zero_ns = origin_ns(run.table("events"))
    first = events.filter(operation=reads.operation, outcome="ok").sort("started_ns").head(1)
    begun_ns, ended_ns = first["started_ns"].item(), first["finished_ns"].item()
    return (begun_ns - zero_ns) * NS, (ended_ns - zero_ns) * NS


def _number(value: object) -> float | None:
    return None if value is None else float(str(value))
