"""Splits the time of plans by kind of work, such as join or sort, as CPU samples do.

If an engine's functions have no names, a CPU sample shows only the file. The plan shows the
purpose and time of each operator. Times of operators and CPU samples are both shares of thread
time. An operator's time includes waits, page faults and all functions that it called, while each
CPU sample has its own kind of work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.work.rules import UNCLASSIFIED, WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.model.plan import Plan, PlanNode

# Kind of work of an operator's own time, unless the plan declares one. Operators that only pass
# rows on are left out.
BY_OPERATOR = {
    "scan": "scan",
    "index scan": "index look-up",
    "bitmap scan": "index look-up",
    "filter": "filter",
    "projection": "expression",
    "hash join": "hash probe",
    "merge join": "join",
    "nested loop": "join",
    "hash build": "hash build",
    "aggregate": "aggregate",
    "sort": "sort",
    "top-n": "sort",
    "limit": "result",
    "window": "window",
    "exchange": "exchange",
    "values": "result",
    "modify": "update",
    "result": "result",
}
# Key of an operator's details that lists other kinds of work within its time.
ALSO = "also"


@dataclass(frozen=True)
class Mixed:
    """The time of operators that do several kinds of work, which no plan separates.

    Attributes:
        work: Kind of work to which the time is assigned.
        also: The other kinds of work.
        seconds: Thread-seconds of these operators.
    """

    work: str
    also: tuple[str, ...]
    seconds: float


def work_of(node: PlanNode) -> str:
    """Return the kind of work, such as join or sort, of a plan operator."""
    word = node.work or BY_OPERATOR.get(node.operator, UNCLASSIFIED)
    return word if word in WORDS else UNCLASSIFIED


def plan_work(plan: Plan) -> dict[str, float]:
    """Return a plan's thread-seconds by kind of work, largest first; empty if not timed."""
    seconds: dict[str, float] = {}
    for node in plan.root.walk():
        if node.seconds is not None:
            word = work_of(node)
            seconds[word] = seconds.get(word, 0.0) + node.seconds
    return dict(sorted(seconds.items(), key=lambda entry: (-entry[1], entry[0])))


def in_proportion(
    plans: Mapping[str, tuple[Plan, ...]], seconds: Mapping[str, float]
) -> dict[str, float]:
    """Return seconds by kind of work, largest first, divided as in the operations' plans.

    With the CPU seconds of each operation, the result is a profile of CPU time. The plans then
    determine only the shares of the kinds of work, not the total.

    Args:
        plans: Plans by operation, from `analysis.plans.read_plans`.
        seconds: Seconds of each operation. An operation without a timed plan counts as
            `unclassified`.
    """
    work_s: dict[str, float] = {}
    for operation, whole_s in seconds.items():
        parts = [plan_work(plan) for plan in plans.get(operation, ())]
        timed_s = sum(sum(part.values()) for part in parts)
        if not timed_s:
            parts, timed_s = [{UNCLASSIFIED: 1.0}], 1.0
        for part in parts:
            for word, part_s in part.items():
                work_s[word] = work_s.get(word, 0.0) + whole_s * part_s / timed_s
    return dict(sorted(work_s.items(), key=lambda entry: (-entry[1], entry[0])))


def mixed_work(plans: Iterable[Plan]) -> list[Mixed]:
    """Return the time of operators that do several kinds of work, largest first."""
    mixed_s: dict[tuple[str, tuple[str, ...]], float] = {}
    for plan in plans:
        for node in plan.root.walk():
            if node.seconds is not None and (also := node.details.get(ALSO)):
                key = (work_of(node), tuple(str(word) for word in also))
                mixed_s[key] = mixed_s.get(key, 0.0) + node.seconds
    mixed = [Mixed(work, also, seconds) for (work, also), seconds in mixed_s.items()]
    return sorted(mixed, key=lambda part: (-part.seconds, part.work, part.also))


def work_by_operation(plans: Mapping[str, tuple[Plan, ...]]) -> pl.DataFrame:
    """Return seconds and share of each kind of work per operation.

    There is one row per pair with any time: operations in the order of `plans`, the most seconds
    first. Plans are those of `analysis.plans.read_plans`.
    """
    rows = [
        (operation, work, seconds)
        for operation, several in plans.items()
        for plan in several
        for work, seconds in plan_work(plan).items()
    ]
    schema = {"operation": pl.String, "work": pl.String, "seconds": pl.Float64}
    order = {operation: place for place, operation in enumerate(plans)}
    return (
        pl.DataFrame(rows, schema, orient="row")
        .group_by("operation", "work", maintain_order=True)
        .agg(pl.col("seconds").sum())
        .filter(pl.col("seconds") > 0)
        .with_columns(
            (pl.col("seconds") / pl.col("seconds").sum().over("operation")).alias("share"),
            pl.col("operation").replace_strict(order, return_dtype=pl.Int64).alias("place"),
        )
        .sort("place", "seconds", "work", descending=[False, True, False])
        .drop("place")
    )
