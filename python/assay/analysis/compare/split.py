"""The difference of two accounts as a sum of parts. Exact: what is split is never more or less.

A product of a count and a time changes by the change of each times the mean of the other, which
leaves no rest: what is executed as often only takes longer, what takes as long is only executed
more often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.analysis.compare.account import Executed, OperationAccount

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.compare.account import Account

TermKind = Literal["time", "executions", "between statements", "mix", "between"]


@dataclass(frozen=True)
class Term:
    """A part of the difference.

    Attributes:
        kind: `time`: an execution takes longer; `executions`: it is executed more often;
            `between statements`: the operation beside its statements; `mix`: other shares of
            operations; `between`: beside operations.
        operation, statement: Of which; None: of all, or of an operation that is one statement.
        seconds: Of the whole, second side less first.
        factor: Of `time`: by how much a second of an execution weighs in the whole.
    """

    kind: TermKind
    operation: str | None
    statement: str | None
    seconds: float
    factor: float = 0.0


def split(first: Account, second: Account) -> list[Term]:
    """What the second side takes longer, in parts that sum to the difference of the wholes."""
    names = list(dict.fromkeys([*first.operations, *second.operations]))
    terms: list[Term] = []
    mix_s = 0.0
    for name in names:
        one, other = first.operations.get(name), second.operations.get(name)
        if one is None or other is None:
            mix_s += _alone(other) - _alone(one)
            continue
        weight = (one.weight + other.weight) / 2
        mix_s += (other.weight - one.weight) * (one.mean_s + other.mean_s) / 2
        terms += _of_operation(name, weight, one, other)
    terms.append(Term("mix", None, None, mix_s))
    terms.append(Term("between", None, None, second.between_s - first.between_s))
    return terms


def _alone(one: OperationAccount | None) -> float:
    return 0.0 if one is None else one.weight * one.mean_s


def _of_operation(
    name: str, weight: float, one: OperationAccount, other: OperationAccount
) -> Iterator[Term]:
    if not one.statements and not other.statements:
        yield Term("time", name, None, weight * (other.mean_s - one.mean_s), weight)
        return
    for key in dict.fromkeys([*one.statements, *other.statements]):
        a, b = _both(one.statements.get(key), other.statements.get(key))
        factor = weight * (a.per_operation + b.per_operation) / 2
        more = weight * (b.per_operation - a.per_operation) * (a.mean_s + b.mean_s) / 2
        yield Term("time", name, key, factor * (b.mean_s - a.mean_s), factor)
        yield Term("executions", name, key, more)
    yield Term("between statements", name, None, weight * (other.rest_s - one.rest_s))


def _both(one: Executed | None, other: Executed | None) -> tuple[Executed, Executed]:
    """A statement on both sides; one that is not executed would take as long as on the other."""
    a = one or Executed(0.0, other.mean_s if other else 0.0)
    return a, other or Executed(0.0, a.mean_s)
