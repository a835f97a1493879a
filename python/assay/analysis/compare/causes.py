"""Explains why a statement takes longer on one of two compared systems, by measured causes.

The causes are applied in a fixed order. CPU time before execution is planning, by CPU samples.
The rest of the difference is due to the plan if the plan changed. Without a changed plan, it is
due to the columns if other columns are read, or else to the reads if the number of rows read
changed. If both sides execute the statement in the same way, the rest is split into CPU time by
kind of work and into waits. Time that no cause explains is unexplained. The amounts sum to the
difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.causes import TITLES
from assay.analysis.profile.statement_work import statement_work
from assay.analysis.time.statement_waits import RUN_QUEUE, statement_waits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.analysis.compare.evidence import Evidence, Key
    from assay.analysis.compare.split import Term
    from assay.record.reader import Run

PLANNING, PLAN, COLUMNS, READS = "optimiser time", "plan", "columns read", "rows read"
CPU, NOT_EXPLAINED = "CPU: ", "not explained"
EXECUTIONS, MIX = "executed more or less often", "mix of operations"
BETWEEN_STATEMENTS, BETWEEN = "between statements", "between transactions"
WAITING = "waiting"
FOR_A_CPU = TITLES[RUN_QUEUE]
OF_TERMS = {
    "executions": EXECUTIONS,
    "mix": MIX,
    "between statements": BETWEEN_STATEMENTS,
    "between": BETWEEN,
}


@dataclass(frozen=True)
class Amount:
    """A share of the time difference between two compared systems, with its cause.

    Attributes:
        operation, statement: The operation and the statement; None means all, or an operation with
            one statement.
        cause: Cause, as the module lists them.
        seconds: Seconds of a transaction or pass, second side minus first.
    """

    operation: str | None
    statement: str | None
    cause: str
    seconds: float


@dataclass(frozen=True)
class Parts:
    """The measured components of the time of one statement execution: planning, CPU and waits.

    Attributes:
        planning_s: CPU seconds before execution.
        cpu: CPU seconds of execution by kind of work.
        waits: Seconds by cause of waiting.
    """

    planning_s: float
    cpu: Mapping[str, float]
    waits: Mapping[str, float]


NOTHING = Parts(0.0, {}, {})


def parts_of(run: Run) -> dict[Key, Parts] | None:
    """Return the time components of each statement; None without CPU samples by statement.

    Times of parallel threads are scaled down, so that no statement has more than its elapsed
    time.
    """
    work, waited = statement_work(run), statement_waits(run)
    if work is None:
        return None
    planning = {
        (operation, statement): seconds
        for operation, statement, step, seconds in work.planning.select(
            "operation", "statement", "step", "seconds"
        ).iter_rows()
        if step is None
    }
    cpu: dict[Key, dict[str, float]] = {}
    for operation, statement, name, seconds in work.work.select(
        "operation", "statement", "work", "seconds"
    ).iter_rows():
        cpu.setdefault((operation, statement), {})[name] = seconds
    beside = {
        (operation, statement): seconds
        for operation, statement, seconds in work.beside.select(
            "operation", "statement", "seconds"
        ).iter_rows()
    }
    waits: dict[Key, dict[str, float]] = {}
    for operation, statement, name, seconds in () if waited is None else waited.iter_rows():
        key = (operation, statement)
        if name == RUN_QUEUE:
            # Threads that work for no particular operation wait for a CPU, too.
            busy_s = planning.get(key, 0.0) + sum(cpu.get(key, {}).values())
            other_s = beside.get(key, 0.0)
            share = busy_s / (busy_s + other_s) if busy_s else 0.0
            waits.setdefault(key, {})[name] = seconds * share
        else:
            waits.setdefault(key, {})[name] = seconds
    return {
        (operation, statement): _fitting(
            mean_s,
            planning.get((operation, statement), 0.0),
            cpu.get((operation, statement), {}),
            waits.get((operation, statement), {}),
        )
        for operation, statement, mean_s in work.executions.select(
            "operation", "statement", "mean_s"
        ).iter_rows()
    }


def _fitting(
    mean_s: float, planning_s: float, cpu: Mapping[str, float], waits: Mapping[str, float]
) -> Parts:
    busy_s = planning_s + sum(cpu.values())
    scale = min(1.0, mean_s / busy_s) if busy_s else 1.0
    left_s, slept_s = max(0.0, mean_s - busy_s * scale), sum(waits.values())
    shrink = min(1.0, left_s / slept_s) if slept_s else 1.0
    return Parts(
        planning_s * scale,
        {name: seconds * scale for name, seconds in cpu.items()},
        {name: seconds * shrink for name, seconds in waits.items()},
    )


def amounts(
    terms: list[Term],
    first: Mapping[Key, Parts] | None,
    second: Mapping[Key, Parts] | None,
    evidence: Mapping[Key, Evidence],
) -> Iterator[Amount]:
    """Yield each term of a time difference with its cause; the sum stays the same.

    Args:
        terms: Terms that `split` returns.
        first: Time parts of the first side's executions; None if not measured.
        second: Time parts of the second side's executions; None if not measured.
        evidence: Differences of statements between the two sides.
    """
    for term in terms:
        if term.kind != "time":
            yield Amount(term.operation, term.statement, OF_TERMS[term.kind], term.seconds)
            continue
        assert term.operation is not None  # noqa: S101 - of an operation, as `split` has it
        key = (term.operation, term.statement)
        measured = first is not None and second is not None
        left = first.get(key, NOTHING) if first is not None and measured else NOTHING
        right = second.get(key, NOTHING) if second is not None and measured else NOTHING
        for cause, seconds in _execution_causes(term, left, right, structural(evidence.get(key))):
            yield Amount(term.operation, term.statement, cause, seconds)


def structural(evidence: Evidence | None) -> str | None:
    """Return the plan or column change behind a statement's time change; None without one."""
    if evidence is None:
        return None
    if evidence.plan_words:
        return PLAN
    if evidence.columns:
        return COLUMNS
    return READS if evidence.reads else None


def _execution_causes(
    term: Term, left: Parts, right: Parts, cause: str | None
) -> Iterator[tuple[str, float]]:
    left_s = term.seconds
    planning_s = term.factor * (right.planning_s - left.planning_s)
    if planning_s:
        yield PLANNING, planning_s
        left_s -= planning_s
    if cause is not None:
        yield cause, left_s
        return
    ours, theirs = _named(left), _named(right)
    for name in sorted({*ours, *theirs}):
        seconds = term.factor * (theirs.get(name, 0.0) - ours.get(name, 0.0))
        yield name, seconds
        left_s -= seconds
    yield NOT_EXPLAINED, left_s


def _named(parts: Parts) -> dict[str, float]:
    """Return CPU time and waits of an execution in seconds, by the name of the cause."""
    return {
        **{f"{CPU}{name}": seconds for name, seconds in parts.cpu.items()},
        **{_wait(name): seconds for name, seconds in parts.waits.items()},
    }


def _wait(name: str) -> str:
    title = TITLES[name]
    return title if title.startswith(WAITING) else f"{WAITING}: {title}"
