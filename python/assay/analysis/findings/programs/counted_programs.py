"""Functions and triggers that the engine counts: number of calls, and share of the time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.model.units import count_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay.analysis.findings.case import Case

# Fewer calls per execution are written with two digits: 0.5 is neither 0 nor 1.
FEW_CALLS = 10.0
# The engine is read some time before and after the measured part, so that 1.02 is once.
ONCE_WITHIN = 0.05
# Calls that plans show are those that the engine counted if their number differs by less.
AGREEING_SHARE = 0.1


@dataclass(frozen=True)
class CountedProgram:
    """A function or trigger that the engine counted.

    Attributes:
        name: Name of the function or trigger in the engine.
        operations: Operations that may call it.
        calls: Number of calls per execution of these operations.
        share: Share of the time of all operations, 0 to 1.
        call_s: Mean time of a call in seconds.
        calls_of: Number of calls per execution of each operation; empty if calls of several
            operations cannot be divided.
    """

    name: str
    operations: tuple[str, ...]
    calls: float
    share: float
    call_s: float
    calls_of: Mapping[str, float] = field(default_factory=dict)


def counted_programs(
    case: Case,
    counted: Mapping[str, tuple[float, float]],
    callers: Callable[[str], Sequence[str]],
    planned: Callable[[str], Mapping[str, float]] | None = None,
) -> list[CountedProgram]:
    """Return counted functions or triggers with their share of the run's time.

    The result is empty if the run's operations have no time.

    Args:
        case: The run.
        counted: Calls and seconds of each function or trigger in the measured part.
        callers: Returns the operations that may call a function or trigger; all if it returns none.
        planned: Returns the calls per execution of each operation by its plans. They divide the
            counted calls if their sum agrees with these.
    """
    whole_s = sum((op.seconds or 0.0) * op.passes for op in case.operations)
    programs = []
    for name, (calls, seconds) in counted.items():
        calls_of = _agreeing(case, calls, {} if planned is None else planned(name))
        operations = tuple(calls_of) or tuple(callers(name)) or tuple(case.shares)
        executions = sum(op.passes for op in case.operations if op.name in operations)
        if executions and whole_s and calls:
            share = min(1.0, seconds / whole_s)
            mean, call_s = calls / executions, seconds / calls
            own = calls_of or ({operations[0]: mean} if len(operations) == 1 else {})
            programs.append(CountedProgram(name, operations, mean, share, call_s, own))
    return programs


def _agreeing(case: Case, calls: float, planned: Mapping[str, float]) -> dict[str, float]:
    """Return the calls per execution that plans show; empty if their sum is not the counted one."""
    passes = {op.name: op.passes for op in case.operations}
    whole = sum(per_execution * passes.get(name, 0) for name, per_execution in planned.items())
    if abs(whole - calls) > AGREEING_SHARE * calls:
        return {}
    return {name: number for name, number in planned.items() if number and passes.get(name)}


def times_text(calls: float) -> str:
    """Return a mean number of calls as text, such as `once` or `0.5 times`."""
    if abs(calls - 1) <= ONCE_WITHIN:
        return "once"
    return f"{calls:.2g} times" if calls < FEW_CALLS else f"{count_text(calls)} times"
