"""Splits the time of plans by kind of work, in the terms of CPU samples.

Where an engine's functions have no names, samples say which file they fell into and nothing else.
Its own plans say what each operator was for, and how long it took. Both are shares of the time of
threads; but an operator's time has waiting and page faults in it, and all that it called, where a
sample says of each of these what it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.work.rules import UNCLASSIFIED, WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.model.plan import Plan, PlanNode

# What an operator's own time goes into where its plan does not say it. What is only passed on, or
# computed by others, is none of these.
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
# The key of an operator's details that lists work of other words within its time.
ALSO = "also"


@dataclass(frozen=True)
class Mixed:
    """The time of operators whose work includes another kind, which no plan separates.

    Attributes:
        work: Kind of work to which the time is charged.
        also: The other kinds of work.
        seconds: Thread-seconds.
    """

    work: str
    also: tuple[str, ...]
    seconds: float


def work_of(node: PlanNode) -> str:
    """Return the kind of work of an operator's own time."""
    word = node.work or BY_OPERATOR.get(node.operator, UNCLASSIFIED)
    return word if word in WORDS else UNCLASSIFIED


def plan_work(plan: Plan) -> dict[str, float]:
    """Return thread-seconds of a plan by kind of work, largest first; empty if it was not timed."""
    seconds: dict[str, float] = {}
    for node in plan.root.walk():
        if node.seconds is not None:
            word = work_of(node)
            seconds[word] = seconds.get(word, 0.0) + node.seconds
    return dict(sorted(seconds.items(), key=lambda entry: (-entry[1], entry[0])))


def in_proportion(
    plans: Mapping[str, tuple[Plan, ...]], seconds: Mapping[str, float]
) -> dict[str, float]:
    """Seconds of operations by word of work, most first, divided as their plans' time is.

    With the CPU seconds of each operation this is a profile of CPU time in which plans say only
    what a statement's time went into, and not how much of it there was.

    Args:
        plans: As `analysis.plans.read_plans` has them.
        seconds: Seconds of each operation; what has no timed plan is `unclassified`.
    """
    work_s: dict[str, float] = {}
    for operation, whole_s in seconds.items():
        parts = [plan_work(plan) for plan in plans.get(operation, ())]
        told_s = sum(sum(part.values()) for part in parts)
        if not told_s:
            parts, told_s = [{UNCLASSIFIED: 1.0}], 1.0
        for part in parts:
            for word, part_s in part.items():
                work_s[word] = work_s.get(word, 0.0) + whole_s * part_s / told_s
    return dict(sorted(work_s.items(), key=lambda entry: (-entry[1], entry[0])))


def mixed_work(plans: Iterable[Plan]) -> list[Mixed]:
    """Return the time of kinds of work that include other kinds, largest first."""
    mixed_s: dict[tuple[str, tuple[str, ...]], float] = {}
    for plan in plans:
        for node in plan.root.walk():
            if node.seconds is not None and (also := node.details.get(ALSO)):
                key = (work_of(node), tuple(str(word) for word in also))
                mixed_s[key] = mixed_s.get(key, 0.0) + node.seconds
    mixed = [Mixed(work, also, seconds) for (work, also), seconds in mixed_s.items()]
    return sorted(mixed, key=lambda part: (-part.seconds, part.work, part.also))


def work_by_operation(plans: Mapping[str, tuple[Plan, ...]]) -> pl.DataFrame:
    """Return each operation's work: operation, work, seconds (threads), share of operation.

    One row per pair that took any time, operations in the order of `plans`, most seconds first.
    Plans are those of `analysis.plans.read_plans`.
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
