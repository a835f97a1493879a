"""Finds why a TPC-H test has no metric: operations that failed or were never executed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from assay.analysis.operations import plain
from assay.record.layout import PHASE_POWER, PHASE_THROUGHPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

# Largest number of operations that one sentence names.
NAMED_MAX = 4

Planned = tuple[str, int, str, int]


def why_not_whole(facts: dict[str, Any], events: pl.DataFrame) -> tuple[str, ...]:
    """Return sentences on why a TPC-H test has no metric; empty if all operations succeeded.

    Args:
        facts: run.json of a run with a test.
        events: All events of its record.
    """
    outcomes = _outcomes(events)
    succeeded = Counter(key for key, outcome, _ in outcomes if outcome == "ok")
    failed = {key: error or outcome for key, outcome, error in outcomes if outcome != "ok"}
    reasons = [f"{_place(key)} failed: {error}" for key, error in failed.items()]
    planned = Counter(planned_operations(facts))
    missing = [key for key in planned if succeeded[key] < planned[key] and key not in failed]
    left = len(reasons) - NAMED_MAX
    shown = [*reasons[:NAMED_MAX], *([f"{left} more operations failed"] if left > 0 else [])]
    if not planned:
        return ("the record has no plan of a test",)
    return (*shown, *([_missing(missing)] if missing else []))


def planned_operations(facts: dict[str, Any]) -> Iterator[Planned]:
    """Yield (phase, session, operation, variant) of every operation that a TPC-H test planned.

    A phase of several passes is planned once. The passes themselves show whether they are
    complete.
    """
    plan = facts.get("plan") or {}
    names = plan.get("operations", [])
    variants = plan.get("variants") or [0] * len(names)
    for phase in plan.get("phases", []):
        name = phase["name"]
        if _kind(name) is None:
            continue
        orders = phase.get("orders") or [phase["operations"]]
        for session, order in enumerate(orders):
            for place in order:
                yield name, session, names[place], variants[place]


def _kind(phase: str) -> str | None:
    """Return `power` or `throughput` for a phase of a TPC-H test; None for other phases."""
    kind = phase.partition("-")[0]
    return kind if kind in (PHASE_POWER, PHASE_THROUGHPUT) else None


def _outcomes(events: pl.DataFrame) -> list[tuple[Planned, str, str | None]]:
    columns = ["phase", "session", "operation", "variant", "outcome", "error"]
    table = plain(events)
    if "variant" not in table.columns:
        return []
    return [
        (row[:4], row[4], row[5])
        for row in table.select(columns).iter_rows()
        if _kind(row[0]) is not None
    ]


def _place(key: Planned) -> str:
    phase, session, operation, _ = key
    stream = f", stream {session + 1}" if _kind(phase) == PHASE_THROUGHPUT else ""
    return f"{operation} of {phase}{stream}"


def _missing(keys: Iterable[Planned]) -> str:
    places = [_place(key) for key in keys]
    left = len(places) - NAMED_MAX
    more = f" and {left} more" if left > 0 else ""
    return f"not played: {'; '.join(places[:NAMED_MAX])}{more}"
