"""Finds the sessions that blocked others in the measured part, from samples.

A waiting session may itself block others. All waits are attributed to the session at the root of
the chain, which does not wait. If several sessions hold a lock together, each gets an equal
part. A deadlock has no such root; its waits are attributed to the sessions that are waited for.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.operations import window_of
from assay.model.blocker import Blocker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.record.reader import Run

STREAM = "blockers"
# Streams with the engine's numbers of the run's own sessions.
OWN = (("backends", "backend_pid"), ("connections", "connection"))
WORDS = ("application", "state", "statement", "object", "mode", "waiting_statement")

Row = dict[str, Any]


def blockers_of(run: Run) -> tuple[Blocker, ...] | None:
    """Return sessions that blocked others, longest first; None if the engine hides them."""
    window = window_of(run)
    if window is None or not run.has(STREAM):
        return None
    within = run.table(STREAM).filter(pl.col("time_ns").is_between(*window))
    return blockers(
        within.with_columns(pl.col(WORDS).cast(pl.String)).to_dicts(), own_sessions(run)
    )


def own_sessions(run: Run) -> set[int]:
    """Return the engine's numbers of the sessions that the run itself opened."""
    tables = [run.table(stream)[number] for stream, number in OWN if run.has(stream)]
    return {session for numbers in tables for session in numbers.to_list()}


def blockers(rows: Iterable[Row], own: set[int]) -> tuple[Blocker, ...]:
    """Return the sessions at the roots of chains of waiting sessions, longest first.

    Args:
        rows: Rows of the stream.
        own: Numbers of the run's own sessions.
    """
    looks: dict[int, list[Row]] = {}
    for row in rows:
        looks.setdefault(row["time_ns"], []).append(row)
    held: dict[int, _Held] = {}
    for look in looks.values():
        _add(held, look)
    whole = sum(holding.weight for holding in held.values())
    roots = [holding.blocker(number, number in own, whole) for number, holding in held.items()]
    return tuple(sorted(roots, key=lambda root: (-root.share, root.session)))


@dataclass
class _Held:
    """Accumulates the samples of one session that blocked others."""

    looks: int = 0
    weight: float = 0.0
    circular: float = 0.0
    transaction_s: float | None = None
    counts: dict[str, Counter[str]] = field(
        default_factory=lambda: {name: Counter() for name in WORDS}
    )

    def hear(self, row: Row) -> None:
        """Add the values of one lock wait sample to the blocking session."""
        age_s = row["transaction_s"]
        if age_s is not None:
            self.transaction_s = max(age_s, self.transaction_s or 0.0)
        for name, counted in self.counts.items():
            if row[name] is not None:
                counted[row[name]] += 1

    def blocker(self, number: int, own: bool, whole: float) -> Blocker:  # noqa: FBT001
        """Return a blocking session with its share of all lock waits."""
        most = {
            name: counted.most_common(1)[0][0] if counted else None
            for name, counted in self.counts.items()
        }
        share = self.weight / whole
        return Blocker(
            number,
            own,
            self.looks,
            share,
            transaction_s=self.transaction_s,
            deadlocked=self.circular / whole,
            **most,
        )


def _add(held: dict[int, _Held], look: list[Row]) -> None:
    """Add the lock waits of one sample; each waiting session has a weight of 1."""
    waits: dict[int, list[Row]] = {}
    for row in look:
        waits.setdefault(row["waiting"], []).append(row)
    at_this_look = set()
    for waiting, rows in waits.items():
        roots = _roots(waiting, waits)
        is_circular = not roots
        roots = roots or {row["blocker"]: row for row in rows}
        for root, row in roots.items():
            holding = held.setdefault(root, _Held())
            holding.weight += 1 / len(roots)
            holding.circular += is_circular / len(roots)
            holding.hear(row)
            at_this_look.add(root)
    for root in at_this_look:
        held[root].looks += 1


def _roots(waiting: int, waits: Mapping[int, list[Row]]) -> dict[int, Row]:
    """Return the sessions that block a session and are not blocked themselves.

    The result is empty if there is none: the session waits in a deadlock, or behind one.
    """
    roots: dict[int, Row] = {}
    ahead, seen = [waiting], {waiting}
    while ahead:
        for row in waits[ahead.pop()]:
            blocker = row["blocker"]
            if blocker not in waits:
                roots[blocker] = row
            elif blocker not in seen:
                seen.add(blocker)
                ahead.append(blocker)
    return roots
