"""Splits the difference between two totals of time into terms with an exact sum.

The product of a count and a time has two terms: the change of each factor times the mean of the
other factor. The two terms sum to the change of the product exactly. If only the time changes,
the count's term is zero, and vice versa.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.analysis.load.account import Executed, OperationAccount

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.load.account import Account

TermKind = Literal["time", "executions", "between statements", "mix", "between"]


@dataclass(frozen=True)
class Term:
    """One term of the difference between two totals of time.

    Attributes:
        kind: `time`: an execution takes longer. `executions`: the statement is executed more
            often. `between statements`: time of the operation outside its statements. `mix`: the
            shares of the operations differ. `between`: time outside operations.
        operation, statement: The operation and the statement; None means all, or an operation with
            one statement.
        seconds: Seconds of a transaction or pass, second side minus first.
        factor: For `time`: executions per transaction or pass, the weight of a second of an
            execution.
    """

    kind: TermKind
    operation: str | None
    statement: str | None
    seconds: float
    factor: float = 0.0


def split(first: Account, second: Account) -> list[Term]:
    """Return the extra time of the second total as terms that sum to the whole difference."""
    names = list(dict.fromkeys([*first.operations, *second.operations]))
    terms: list[Term] = []
    mix_s = 0.0
    for name in names:
        left, right = first.operations.get(name), second.operations.get(name)
        if left is None or right is None:
            mix_s += _alone(right) - _alone(left)
            continue
        weight = (left.weight + right.weight) / 2
        mix_s += (right.weight - left.weight) * (left.mean_s + right.mean_s) / 2
        terms += _operation_terms(name, weight, left, right)
    terms.append(Term("mix", None, None, mix_s))
    terms.append(Term("between", None, None, second.between_s - first.between_s))
    return terms


def _alone(operation: OperationAccount | None) -> float:
    return 0.0 if operation is None else operation.weight * operation.mean_s


def _operation_terms(
    name: str, weight: float, left: OperationAccount, right: OperationAccount
) -> Iterator[Term]:
    if not left.statements and not right.statements:
        yield Term("time", name, None, weight * (right.mean_s - left.mean_s), weight)
        return
    for key in dict.fromkeys([*left.statements, *right.statements]):
        a, b = _both(left.statements.get(key), right.statements.get(key))
        factor = weight * (a.per_operation + b.per_operation) / 2
        more = weight * (b.per_operation - a.per_operation) * (a.mean_s + b.mean_s) / 2
        yield Term("time", name, key, factor * (b.mean_s - a.mean_s), factor)
        yield Term("executions", name, key, more)
    yield Term("between statements", name, None, weight * (right.rest_s - left.rest_s))


def _both(left: Executed | None, right: Executed | None) -> tuple[Executed, Executed]:
    """Return a statement's executions in both totals; if one lacks them, their count is zero."""
    a = left or Executed(0.0, right.mean_s if right else 0.0)
    return a, right or Executed(0.0, a.mean_s)
