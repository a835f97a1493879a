"""Functions and triggers that the engine counts: number of calls, and share of the time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import names_text
from assay.model.units import count_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from assay.analysis.findings.case import Case

# Fewer calls per execution are written with two digits: 0.5 is neither 0 nor 1.
FEW_CALLS = 10.0
# The engine is read some time before and after the measured part, so that 1.02 is once.
ONCE_WITHIN = 0.05


@dataclass(frozen=True)
class CountedProgram:
    """A function or trigger that the engine counted.

    Attributes:
        name: Name of the function or trigger in the engine.
        operations: Operations that may call it.
        calls: Number of calls per execution of these operations.
        share: Share of the time of all operations, 0 to 1.
        call_s: Mean time of a call in seconds.
    """

    name: str
    operations: tuple[str, ...]
    calls: float
    share: float
    call_s: float


def counted_programs(
    case: Case,
    counted: Mapping[str, tuple[float, float]],
    callers: Callable[[str], Sequence[str]],
) -> list[CountedProgram]:
    """Return counted functions or triggers with their share of the run's time.

    The result is empty if the run's operations have no time.

    Args:
        case: The run.
        counted: Calls and seconds of each function or trigger in the measured part.
        callers: Returns the operations that may call a function or trigger; all if it returns none.
    """
    whole_s = sum((op.seconds or 0.0) * op.passes for op in case.operations)
    programs = []
    for name, (calls, seconds) in counted.items():
        operations = tuple(callers(name)) or tuple(case.shares)
        executions = sum(op.passes for op in case.operations if op.name in operations)
        if executions and whole_s and calls:
            share = min(1.0, seconds / whole_s)
            per_execution = calls / executions
            programs.append(CountedProgram(name, operations, per_execution, share, seconds / calls))
    return programs


def times_text(calls: float) -> str:
    """Return a mean number of calls as text, such as `once` or `0.5 times`."""
    if abs(calls - 1) <= ONCE_WITHIN:
        return "once"
    return f"{calls:.2g} times" if calls < FEW_CALLS else f"{count_text(calls)} times"


def execution_text(case: Case, operations: Iterable[str]) -> str:
    """Return the executions to which calls refer, named if they are not those of all operations."""
    names = list(operations)
    if len(names) == len(case.operations):
        return "execution"
    return f"execution of {names_text(names)}"
