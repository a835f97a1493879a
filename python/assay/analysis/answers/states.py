"""Finds which states of changing data each query execution can have read.

State n is the data after n batches of refresh functions since the run began; state 0 is the
loaded data. Set s consists of 2k batches: k that insert, then k that delete.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

STATES = ("state_first", "state_last", "state_likely")
NEVER_NS = (1 << 63) - 1


@dataclass(frozen=True)
class Refresh:
    """The refresh functions (insert and delete) of a run, which change the data during a test.

    Attributes:
        insert, delete: Names of the two functions. Each set of rows is inserted, then deleted.
        batches: Number of transactions of a function. If each order has its own transaction, a
            function counts as one batch, and states during the function are not known.
        many: Whether each order has its own transaction.
    """

    insert: str
    delete: str
    batches: int
    many: bool

    @classmethod
    def of(cls, test: Mapping[str, Any] | None) -> Refresh | None:
        """Return the insert and delete functions that a run declares; None without any."""
        facts = (test or {}).get("refresh")
        if facts is None:
            return None
        batches = int(facts["batches"])
        return cls(facts["insert"], facts["delete"], max(1, batches), batches == 0)

    @property
    def functions(self) -> tuple[str, str]:
        """The names of the insert function and of the delete function."""
        return self.insert, self.delete

    def state_before(self, function: str, variant: int) -> int:
        """Return the number of the data's state before a refresh function of one set (from 1)."""
        return 2 * self.batches * (variant - 1) + (self.batches if function == self.delete else 0)


def executions(
    events: pl.DataFrame, refresh: Refresh | None, without: Collection[str] = ()
) -> pl.DataFrame:
    """Return executions that returned rows, with the data states that each can have read.

    Columns: phase and operation (categories), session, variant, digest (u64), started_ns,
    finished_ns, sorted by start;
    state_first and state_last (first and last state that was current between start and end);
    state_likely (the state at the start, if batches took equally long). The three state columns
    are null if the data are not known: after a refresh function failed, the next one may start
    from any of several states.

    Args:
        events: Events of a run.
        refresh: How refresh functions change the data; None if they do not.
        without: Operations to leave out. A load can have a hundred million events, most of them of
            operations without answers to compare.
    """
    if "variant" not in events.columns:
        events = events.with_columns(pl.lit(0, pl.UInt32).alias("variant"))
    left_out = [*without, *([] if refresh is None else refresh.functions)]
    returned = (
        events.lazy()
        .filter((pl.col("outcome") == "ok") & ~pl.col("operation").is_in(left_out))
        .select("phase", "session", "operation", "variant", "digest", "started_ns", "finished_ns")
        .sort("started_ns", maintain_order=True)
        .collect()
    )
    if refresh is None:
        return returned.with_columns(pl.lit(0, pl.Int64).alias(name) for name in STATES)
    return returned.with_columns(_History.of(events, refresh).states(returned))


def distinct(executed: pl.DataFrame) -> pl.DataFrame:
    """Return the distinct results to compare, so that equal rows of equal states are checked once.

    Columns: operation, variant, digest, the three state columns, answers (number of executions),
    phase and session (of the first of these executions).
    """
    return executed.group_by(
        "operation", "variant", "digest", *STATES[:2], maintain_order=True
    ).agg(
        pl.col("state_likely").first(),
        pl.len().alias("answers"),
        pl.col("phase").first(),
        pl.col("session").first(),
    )


@dataclass(frozen=True)
class _History:
    """The executed refresh functions in time order, up to the first with unknown changes.

    Attributes:
        started_ns, finished_ns: Start and end of each function.
        before, after, most: State before each function, and the lowest and highest possible
            state after it.
        lost_ns: Time from which on the state is not known.
    """

    started_ns: list[int]
    finished_ns: list[int]
    before: list[int]
    after: list[int]
    most: list[int]
    lost_ns: int

    @classmethod
    def of(cls, events: pl.DataFrame, refresh: Refresh) -> _History:
        """Return the executed refresh functions from the events of a run."""
        played = events.filter(
            pl.col("operation").is_in(list(refresh.functions)) & (pl.col("outcome") != "skipped")
        ).sort("started_ns", maintain_order=True)
        history = cls([], [], [], [], [], NEVER_NS)
        least = most = ended_ns = 0
        for event in played.iter_rows(named=True):
            before = refresh.state_before(event["operation"], event["variant"])
            tried_again = event["retries"] > 0 and (refresh.many or refresh.batches > 1)
            if not least == most == before or event["started_ns"] < ended_ns or tried_again:
                return cls(**(vars(history) | {"lost_ns": event["started_ns"]}))
            ended_ns = NEVER_NS if event["finished_ns"] is None else event["finished_ns"]
            most = before + refresh.batches
            least = most if event["outcome"] == "ok" else before
            history._append(event["started_ns"], ended_ns, before, least, most)
        return history

    def _append(self, started_ns: int, ended_ns: int, before: int, least: int, most: int) -> None:
        self.started_ns.append(started_ns)
        self.finished_ns.append(ended_ns)
        self.before.append(before)
        self.after.append(least)
        self.most.append(most)

    def states(self, executed: pl.DataFrame) -> list[pl.Series]:
        """Return the first, last and most likely data state that each execution can have read."""
        started, finished = executed["started_ns"], executed["finished_ns"]
        # An operation sees every function that ended before the operation began. It may see a
        # function that began before the operation ended.
        ended = _counted(self.finished_ns, started, "right")
        begun = _counted(self.started_ns, finished, "left")
        is_known = finished <= self.lost_ns
        columns = (
            _at([0, *self.after], ended),
            _at([0, *self.most], begun),
            self._likely(started, ended, _counted(self.started_ns, started, "right")),
        )
        nothing = pl.Series([None], dtype=pl.Int64)
        return [
            column.zip_with(is_known, nothing).alias(name)
            for name, column in zip(STATES, columns, strict=True)
        ]

    def _likely(self, started: pl.Series, ended: pl.Series, begun: pl.Series) -> pl.Series:
        at_rest = [0, *self.after]
        likely = []
        for now_ns, over, under_way in zip(started, ended, begun, strict=True):
            state = at_rest[over]
            if under_way > over:
                place = under_way - 1
                took_ns = self.finished_ns[place] - self.started_ns[place]
                share = (now_ns - self.started_ns[place]) / max(1, took_ns)
                changed = self.most[place] - self.before[place]
                state = self.before[place] + min(changed, math.floor(share * (changed + 1)))
            likely.append(state)
        return pl.Series(likely, dtype=pl.Int64)


def _counted(times_ns: list[int], at_ns: pl.Series, side: Literal["left", "right"]) -> pl.Series:
    """Return the number of times before each moment; side `right` also counts equal times."""
    ordered = pl.Series(times_ns, dtype=pl.Int64)
    return ordered.search_sorted(at_ns.cast(pl.Int64), side=side)


def _at(values: list[int], places: pl.Series) -> pl.Series:
    return pl.Series(values, dtype=pl.Int64).gather(places)
