"""Throughput and time ratios between two compared systems over the rounds.

Each round is compared separately (`rounds`). Even if nothing differs, one interval in twenty
excludes 1 by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from assay.analysis.load.account import account_of
from assay.analysis.load.summary import summarise_load
from assay.analysis.load_plan import load_of
from assay.analysis.operations import geometric_mean, operation_table
from assay.analysis.stats.rounds import factor_of
from assay.analysis.stats.student import CONFIDENCE
from assay.analysis.time.statement_times import name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.record.reader import Run

    Values = dict[tuple[str, str], float]

THROUGHPUT, WHOLE, MEAN = "throughput", "whole", "mean"
PERCENTILES = ("p50", "p99", "p999")


@dataclass(frozen=True)
class Ratio:
    """The ratio of throughput or time between two compared systems.

    Attributes:
        what: `throughput`, `whole`, or the name of an operation or statement.
        quantity: `mean`, `p50`, `p99` or `p999`; for throughput `a second`.
        first, second: Value of each side: geometric means over the rounds.
        ratio: Second value divided by first value.
        interval: 95 % interval of the ratio; None with one round.
        rounds: Number of rounds in which both sides have a value.
    """

    what: str
    quantity: str
    first: float
    second: float
    ratio: float
    interval: tuple[float, float] | None
    rounds: int

    @property
    def differs(self) -> bool | None:
        """True if the interval of the ratio excludes 1; None without an interval."""
        return None if self.interval is None else not self.interval[0] <= 1.0 <= self.interval[1]


def ratios_of(rounds: Sequence[tuple[Run, Run]]) -> tuple[Ratio, ...]:
    """Return the ratios of throughput and times that both compared systems have."""
    values = [(values_of(left), values_of(right)) for left, right in rounds]
    keys = dict.fromkeys(key for pair in values for key in pair[0] if key in pair[1])
    ratios = []
    for key in keys:
        pairs = [(left[key], right[key]) for left, right in values if key in left and key in right]
        factor = factor_of([b / a for a, b in pairs])
        first, second = (geometric_mean(side) for side in zip(*pairs, strict=True))
        if factor is not None and first is not None and second is not None:
            ratios.append(Ratio(*key, first, second, factor.times, factor.interval, factor.rounds))
    statements = {name for pair in rounds for run in pair for name in _statements(run)}
    return tuple(sorted(ratios, key=lambda ratio: ratio.what in statements))


def _statements(run: Run) -> list[str]:
    account = account_of(run)
    operations = {} if account is None else account.operations
    return [
        name_of(name, own) for name, operation in operations.items() for own in operation.statements
    ]


def by_chance(ratios: Sequence[Ratio]) -> float:
    """Return the number of ratios that are expected to seem different by chance alone."""
    return (1 - CONFIDENCE) * sum(ratio.interval is not None for ratio in ratios)


@lru_cache(maxsize=64)
def values_of(run: Run) -> Values:
    """Return a run's positive throughput (operations per second) and times (seconds)."""
    account = account_of(run)
    if account is None:
        return {}
    values: dict[tuple[str, str], float | None] = {}
    load, summary = load_of(run.facts), summarise_load(run)
    if load is not None and summary is not None:
        values[THROUGHPUT, "a second"] = summary.all_operations.throughput_per_s
    values[WHOLE, MEAN] = account.whole_s
    for name, operation in account.operations.items():
        values[name, MEAN] = operation.mean_s
        of_load = summary.by_name.get(name) if summary is not None else None
        if of_load is not None:
            times = of_load.service
            values |= {(name, which): getattr(times, which) for which in PERCENTILES}
    if load is None:
        rows = operation_table(run.table("events")).select("operation", "seconds")
        values |= {(name, "p50"): seconds for name, seconds in rows.iter_rows()}
    for name, operation in account.operations.items():
        for statement, own in operation.statements.items():
            values[name_of(name, statement), MEAN] = own.mean_s
    return {key: float(value) for key, value in values.items() if value}
