"""Measures the cost of parts of queries, from runs with and without them.

A query without its computation shows the cost of reading only if it reads the same data. Both
plans must have the same scans, paths and columns, the same number of rows read and returned, and
the same bytes of pages. If the reads differ, the removal failed, and the reason is reported.
Removing any other part may change the reads, too. The report names that change, and its time
counts as part of the cost.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.analysis.host.operation_reads import own_read_bytes
from assay.analysis.plans.recorded import captured
from assay.analysis.try_.trial import gain_over, times_of
from assay.model.units import bytes_text, grouped_text
from assay.record.layout import COMPUTATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.analysis.try_.trial import Gain
    from assay.model.plan import Plan, PlanNode
    from assay.record.reader import Run

SCANS = ("scan", "index scan", "bitmap scan")
# Averages over loops are rounded, and a page may be counted twice; a larger difference is a
# different way of reading.
SAME_WITHIN = 0.01
# Reads from devices vary between passes if part of the data was in memory.
DEVICE_SAME_WITHIN = 0.05
DEVICE_BYTES_MIN = 1 << 20

RemovalKind = Literal["reads the same", "failed", "not known", "priced"]


@dataclass(frozen=True)
class Reading:
    """The tables, columns and rows that the scan nodes of an operation's plans read.

    Attributes:
        paths: Number of scans by path and table, such as `Seq Scan of lineitem`.
        columns: Columns that are read, by table, if the engine reports them.
        rows: Rows that scans returned, by table.
        looked_at_rows: Rows that scans read, including those that conditions removed, by table.
        bytes: Bytes of pages by table or index, from cache and storage, if reported.
        workers: Number of extra processes or threads.
    """

    paths: Mapping[str, int]
    columns: Mapping[str, frozenset[str]]
    rows: Mapping[str, float]
    looked_at_rows: Mapping[str, float]
    bytes: Mapping[str, int]
    workers: int


@dataclass(frozen=True)
class Removal:
    """The change in time of one operation when parts of its query are removed.

    Attributes:
        operation: Name of the operation.
        parts: The removed parts, as requested.
        description: Text of the removed parts in the query.
        stays: Computation that remains in the query.
        gain: The time that the removal saves; None if a run has no time of the operation.
        differs: Differences in what the two queries read, one phrase each.
        unknown: Reason why differences in reads are not known; None if they are known.
    """

    operation: str
    parts: tuple[str, ...]
    description: str
    stays: tuple[str, ...]
    gain: Gain | None
    differs: tuple[str, ...] = ()
    unknown: str | None = None

    @property
    def verdict(self) -> RemovalKind:
        """Return a verdict on whether the shortened query still reads the same data."""
        if self.parts != (COMPUTATION,):
            return "priced"
        if self.differs:
            return "failed"
        return "not known" if self.unknown else "reads the same"


def removals(rounds: Sequence[tuple[Run, Run]]) -> list[Removal]:
    """Return the time change of each operation whose query was shortened, over paired runs.

    Args:
        rounds: Pairs of runs with and without the parts; at least one pair.
    """
    before, after = rounds[0]
    statements = after.facts["statements"]
    parts = tuple(after.facts["request"].get("remove") or ())
    times = [(times_of(left), times_of(right)) for left, right in rounds]
    removed = []
    for operation, statement in statements.items():
        rewritten = statement.get("rewritten")
        if not rewritten or operation not in before.facts["statements"]:
            continue
        pairs = [(b.operations.get(operation), a.operations.get(operation)) for b, a in times]
        differs, unknown = _compared(before, after, operation)
        text = "; ".join(part["words"] for part in rewritten["removed"])
        stays = tuple(rewritten["stays"])
        gain = gain_over(pairs)
        removed.append(Removal(operation, parts, text, stays, gain, differs, unknown))
    return removed


def reading(plans: Sequence[Plan]) -> Reading:
    """Return the tables, columns and rows that the scan nodes of all given plans read."""
    scans = [node for plan in plans for node in plan.root.walk() if node.operator in SCANS]
    columns: dict[str, set[str]] = {}
    rows: dict[str, float] = {}
    looked_at: dict[str, float] = {}
    pages: Counter[str] = Counter()
    for node in scans:
        name = _read(node)
        if node.columns:
            columns.setdefault(name, set()).update(node.columns)
        if node.rows is not None:
            rows[name] = rows.get(name, 0.0) + node.rows
            looked = node.rows + (node.removed_rows or 0.0)
            looked_at[name] = looked_at.get(name, 0.0) + looked
        if node.read_bytes is not None or node.cached_bytes is not None:
            pages[name] += (node.read_bytes or 0) + (node.cached_bytes or 0)
    return Reading(
        Counter(_path(node) for node in scans),
        {name: frozenset(names) for name, names in columns.items()},
        rows,
        looked_at,
        pages,
        sum(
            node.workers_planned or node.workers or 0 for plan in plans for node in plan.root.walk()
        ),
    )


def differences(before: Reading, after: Reading) -> tuple[str, ...]:
    """Return text for each difference between the reads of two operations; empty if equal."""
    if before.paths != after.paths:
        # Different paths explain different rows and pages, so those are not reported as well.
        return tuple(_other_paths(before.paths, after.paths))
    return (
        *_other_columns(before.columns, after.columns),
        *_other_amounts(before.looked_at_rows, after.looked_at_rows, "rows looked at"),
        *_other_amounts(before.rows, after.rows, "rows given"),
        *_other_amounts(before.bytes, after.bytes, "of pages"),
        *_other_workers(before.workers, after.workers),
    )


def _compared(before: Run, after: Run, operation: str) -> tuple[tuple[str, ...], str | None]:
    """Return the differences between an operation's reads in two runs, or why they are unknown."""
    both = [captured(run) for run in (before, after)]
    plans = [capture.plans.get(operation, ()) for capture in both]
    for capture, operation_plans in zip(both, plans, strict=True):
        if not operation_plans:
            why = capture.reason or f"{operation} has none"
            return (), f"there are no plans to compare: {why}"
    differs = differences(*(reading(operation_plans) for operation_plans in plans))
    devices = [own_read_bytes(run, operation) for run in (before, after)]
    return (*differs, *_other_devices(*devices)), None


def _read(node: PlanNode) -> str:
    return node.object or node.index or node.native


def _path(node: PlanNode) -> str:
    index = f" by {node.index}" if node.index and node.index != _read(node) else ""
    return f"{node.native} of {_read(node)}{index}"


def _other_paths(before: Mapping[str, int], after: Mapping[str, int]) -> Iterator[str]:
    for path in dict.fromkeys((*before, *after)):
        was, now = before.get(path, 0), after.get(path, 0)
        if was != now:
            yield f"{path}: {now} in its plan and not {was}"


def _other_columns(
    before: Mapping[str, frozenset[str]], after: Mapping[str, frozenset[str]]
) -> Iterator[str]:
    for table in dict.fromkeys((*before, *after)):
        was, now = before.get(table), after.get(table)
        if was is None or now is None:
            continue
        if was - now:
            yield f"{', '.join(sorted(was - now))} of {table}: no longer read"
        if now - was:
            yield f"{', '.join(sorted(now - was))} of {table}: read, and not read before"


def _other_amounts(
    before: Mapping[str, float], after: Mapping[str, float], what: str
) -> Iterator[str]:
    for table in before:
        was, now = before[table], after.get(table)
        if now is None or abs(now - was) <= SAME_WITHIN * max(was, 1.0):
            continue
        texts = [
            bytes_text(amount) if what == "of pages" else grouped_text(amount)
            for amount in (now, was)
        ]
        yield f"{table}: {texts[0]} {what} and not {texts[1]}"


def _other_workers(before: int, after: int) -> Iterator[str]:
    if before != after:
        yield f"{after} workers are at work on it and not {before}"


def _other_devices(before: float | None, after: float | None) -> Iterator[str]:
    if before is None or after is None:
        return
    apart = abs(after - before)
    if apart > DEVICE_BYTES_MIN and apart > DEVICE_SAME_WITHIN * before:
        yield f"{bytes_text(after)} come from devices and not {bytes_text(before)}"
