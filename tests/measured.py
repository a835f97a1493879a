"""Runs as predictions see them, made by hand: operations with their times and threads' causes."""

from __future__ import annotations

from typing import Any

from assay.analysis.whatif.timing import Measured, TimedOperation


def an_operation(
    name: str,
    seconds: float,
    threads: float = 1.0,
    work: dict[str, float] | None = None,
    **shares: float,
) -> TimedOperation:
    """An operation whose causes are shares of its threads' time; what is left is idle."""
    idle = 1.0 - sum(shares.values())
    parts = shares | ({"idle": idle} if idle > 1e-12 else {})
    thread_s = {cause: share * threads * seconds for cause, share in parts.items()}
    return TimedOperation(name, seconds, thread_s=thread_s, threads=threads, work=work)


def a_run(*operations: TimedOperation, **about: Any) -> Measured:
    """A run of some operations, of TPC-H at scale 1 on two cores unless something else is said."""
    fields = {"run": "r", "has_composite": True, "scale": 1.0, "cores": 2} | about
    return Measured(operations=operations, **fields)


def timed(*seconds: float, **about: Any) -> Measured:
    """A run of q01, q02 and so on, of which nothing is known but the time."""
    made = [TimedOperation(f"q{n:02d}", value) for n, value in enumerate(seconds, start=1)]
    return a_run(*made, **about)
