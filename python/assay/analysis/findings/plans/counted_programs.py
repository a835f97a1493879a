"""Functions and triggers that the engine counts: calls per execution, and share of the time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.findings.case import Case


@dataclass(frozen=True)
class CountedProgram:
    """A function or trigger that the engine counted.

    Attributes:
        name: Name of the function or trigger in the engine.
        calls: Number of calls per execution of any operation.
        share: Share of the time of all operations, 0 to 1.
    """

    name: str
    calls: float
    share: float


def counted_programs(
    case: Case, counted: Mapping[str, tuple[float, float]]
) -> list[CountedProgram]:
    """Return counted functions or triggers with their share of the run's time.

    The result is empty if the run's operations have no time.
    """
    executions = sum(op.passes for op in case.operations)
    whole_s = sum((op.seconds or 0.0) * op.passes for op in case.operations)
    if not executions or not whole_s:
        return []
    return [
        CountedProgram(name, calls / executions, min(1.0, seconds / whole_s))
        for name, (calls, seconds) in counted.items()
    ]
