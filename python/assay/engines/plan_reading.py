"""The abilities of engines that report their plans, and what a captured plan is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Literal, ParamSpec, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.engines.contract import Instance
    from assay.model.catalogue import Alternative, ChangedSetting, ForeignKey, Index
    from assay.model.plan import Plan, Reads

Arguments = ParamSpec("Arguments")
# What reading a document raises that is not of the expected form.
MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError)


def plan_parser(
    product: str,
) -> Callable[[Callable[Arguments, Plan]], Callable[Arguments, Plan]]:
    """Return a decorator of a parser of plans, which then refuses what it cannot read.

    Raises:
        ValueError: If the document has another form, whatever the parser itself raises.
    """

    def refusing(parse: Callable[Arguments, Plan]) -> Callable[Arguments, Plan]:
        @wraps(parse)
        def read(*arguments: Arguments.args, **named: Arguments.kwargs) -> Plan:
            try:
                return parse(*arguments, **named)
            except MALFORMED as error:
                raise ValueError(f"this is no plan of {product}: {error!r}") from error

        return read

    return refusing


@dataclass(frozen=True)
class CachedPlan:
    """The plan of a statement in a session that has prepared it, as timed sessions have.

    Attributes:
        mode: Whether one plan is kept for all values or each execution gets its own; None if the
            engine does not report it.
        planned_each_time: Whether each execution is planned anew; None if not known.
        captures: How often it was captured, with other values where values are drawn.
        others: Of plans with another shape than the one that is given, one line each.
    """

    mode: Literal["generic", "custom"] | None
    planned_each_time: bool | None
    captures: int
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explained:
    """The engine's answer to a statement that was asked with its plan.

    Attributes:
        native: The plan in the engine's own form; None if there is no plan.
        reason: Reason why there is no plan, or why it has estimates only.
        capture_s: Wall time that asking took.
        reads: Reads that the engine counted; None if it counts none, or the plan has them.
        cached: Of a statement that was prepared as timed sessions do; None if it was sent as text.
    """

    native: str | None
    reason: str | None
    capture_s: float
    reads: Reads | None = None
    cached: CachedPlan | None = None


@dataclass(frozen=True)
class PlanAsked:
    """A statement whose answer is wanted.

    Attributes:
        text: Statement with `$1`, `$2`, ... for its values.
        values: Values of Python's types: whole numbers, decimals, texts, times, None.
        explained: Whether its plan is wanted as well.
        prepared: Whether timed sessions prepare it once and keep it.
    """

    text: str
    values: Sequence[object]
    explained: bool
    prepared: bool = False


@dataclass(frozen=True)
class PlanAnswer:
    """The result of one played statement.

    Attributes:
        explained: Its plan, if it was requested.
        rows: Rows that it returned.
        count: Rows that it returned or changed.
        error: Reason why it was not executed. Then later statements cannot be executed either.
    """

    explained: Explained | None
    rows: Sequence[Sequence[object]] = ()
    count: int = 0
    error: str | None = None


class PlanReader(Protocol):
    """Captures plans of statements on a separate connection. Use it in one thread only."""

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Executes an operation with its plans: its statements in order, in one transaction.

        The transaction is rolled back when the iterator ends or is closed.

        Args:
            statements: Each with the values of `$1`, `$2`, ...
            limit_s: A statement that takes longer is cancelled; 0: none is executed, and plans
                have estimates only.

        Yields:
            One for each statement. What the engine refuses is a reason, never an exception.
        """
        ...

    def close(self) -> None:
        """Ends the connection."""
        ...


@runtime_checkable
class PlaysPrograms(Protocol):
    """Readers of plans that can be asked by a program, whose next statement needs answers."""

    def play(self, statements: Iterable[PlanAsked], limit_s: float) -> Iterator[PlanAnswer]:
        """Executes statements as they come, those that are to be explained with their plans.

        All is done in one transaction, which is rolled back when the iterator ends or is closed.
        What asking for a plan changes is undone before the statement is executed for its answer.

        Args:
            statements: Each is taken once the answer to the one before was told.
            limit_s: A plan that takes longer is cancelled; 0: plans have estimates only.

        Yields:
            One for each statement. What the engine refuses is an error in it, never an exception.
        """
        ...


@runtime_checkable
class AsksPrepared(Protocol):
    """Plan readers that can capture the plan of a prepared statement as timed sessions have it."""

    def explain_prepared(
        self, statements: Sequence[tuple[str, Sequence[Sequence[object]]]], limit_s: float
    ) -> Iterator[Explained]:
        """Executes an operation with its plans, its statements prepared as timed sessions do.

        Everything else is as in `PlanReader.explain`.

        Args:
            statements: Each with several rows of values as executions draw them. What is executed
                stands for later statements with the first row; the others are undone at once.
            limit_s: As in `explain`.
        """
        ...


@runtime_checkable
class TellsIndexes(Protocol):
    """Plan readers that read the catalogue's indexes of the tables that sessions see."""

    def indexes(self) -> list[Index]:
        """Return every index of these tables, including hidden and invalid ones."""
        ...


@runtime_checkable
class TellsForeignKeys(Protocol):
    """Plan readers that read the foreign keys of an engine that makes no index of them."""

    def foreign_keys(self) -> list[ForeignKey]:
        """Every foreign key of the tables that are not the server's own."""
        ...


@runtime_checkable
class TellsChangedSettings(Protocol):
    """Plan readers that know which settings of the optimiser are away from their default."""

    def changed_settings(self) -> list[ChangedSetting]:
        """Return the settings in force in the timed sessions that differ from the default."""
        ...


@runtime_checkable
class AsksAlternatives(Protocol):
    """Plan readers that ask for the plan with one thing changed, which executes nothing."""

    def alternatives(
        self, operation: str, statements: Sequence[tuple[str, Sequence[object]]]
    ) -> list[Alternative]:
        """Plans of an operation's statements with each changed setting back at its default.

        What the engine refuses is left out.
        """
        ...


@runtime_checkable
class HasPlans(Protocol):
    """The contract of engines that report how they execute a statement."""

    def plan_reader(self, instance: Instance) -> PlanReader:
        """Return a plan reader with its own connection, which sees the sessions' data."""
        ...

    def plan(self, text: str, operation: str, statement: int, native: str) -> Plan:
        """Parse `text`, the engine's own plan. Pure.

        Args:
            text: The plan in the engine's own form.
            operation: The operation of the plan.
            statement: Position of its statement.
            native: The file that keeps the text.

        Raises:
            ValueError: If the text is not a valid plan.
        """
        ...
