"""Interfaces of engines that report query plans, and the type of a captured plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Literal, ParamSpec, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.engines.contract import Instance
    from assay.model.catalogue import (
        Alternative,
        ChangedSetting,
        Collation,
        ForeignKey,
        Index,
        Notifier,
        Statistics,
        TriggerText,
    )
    from assay.model.plan import Plan, PlanNode, Reads

Arguments = ParamSpec("Arguments")
# Exceptions that a parser raises for a document of unexpected form.
MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError)


def plan_parser(
    product: str,
) -> Callable[[Callable[Arguments, Plan]], Callable[Arguments, Plan]]:
    """Return a decorator that turns a plan parser's errors into `ValueError`.

    Raises:
        ValueError: If the document has an unexpected form, whatever the parser itself raises.
    """

    def refusing(parse: Callable[Arguments, Plan]) -> Callable[Arguments, Plan]:
        @wraps(parse)
        def read(*arguments: Arguments.args, **named: Arguments.kwargs) -> Plan:
            try:
                return parse(*arguments, **named)
            except MALFORMED as error:
                raise ValueError(f"the text is not a plan of {product}: {error!r}") from error

        return read

    return refusing


@dataclass(frozen=True)
class CachedPlan:
    """The plan of a prepared statement, as the plan cache of the timed sessions has it.

    Attributes:
        mode: Whether one plan is kept for all values or each execution gets its own; None if the
            engine does not report it.
        planned_each_time: Whether each execution is planned again; None if not known.
        captures: Number of captures, each with other values if values are drawn.
        others: One line for each plan of another shape than the returned one.
    """

    mode: Literal["generic", "custom"] | None
    planned_each_time: bool | None
    captures: int
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explained:
    """The engine's answer to a request for a statement's plan.

    Attributes:
        native: The plan in the engine's own form; None if there is no plan.
        reason: Reason why there is no plan, or why it has estimates only.
        capture_s: Wall time of the request.
        reads: Reads that the engine counted; None if it counts none, or if the plan has them.
        cached: Plan of a statement that was prepared like in timed sessions; None if it was sent as
            text.
    """

    native: str | None
    reason: str | None
    capture_s: float
    reads: Reads | None = None
    cached: CachedPlan | None = None


@dataclass(frozen=True)
class PlanAsked:
    """A program's statement to execute, perhaps with its plan.

    Attributes:
        text: Statement with `$1`, `$2`, ... for its values.
        values: Values of Python types: integers, decimals, texts, times, None.
        explained: Whether the statement's plan is also requested.
        prepared: Whether timed sessions prepare the statement once and keep it.
    """

    text: str
    values: Sequence[object]
    explained: bool
    prepared: bool = False


@dataclass(frozen=True)
class PlanAnswer:
    """The result of one executed statement of a program: its plan and its rows.

    Attributes:
        explained: The statement's plan, if it was requested.
        rows: Returned rows.
        count: Number of rows that the statement returned or changed.
        error: Reason why the statement was not executed. After an error, later statements cannot be
            executed either.
    """

    explained: Explained | None
    rows: Sequence[Sequence[object]] = ()
    count: int = 0
    error: str | None = None


class PlanReader(Protocol):
    """Interface that captures plans of statements on a separate connection.

    A plan reader is for one thread only.
    """

    def explain(
        self, statements: Sequence[tuple[str, Sequence[object]]], limit_s: float
    ) -> Iterator[Explained]:
        """Explain an operation by executing its statements in order, in one transaction.

        The transaction is rolled back when the iterator ends or is closed.

        Args:
            statements: Statements, each with the values of `$1`, `$2`, ...
            limit_s: Time after which a statement is cancelled; 0 means that nothing is executed,
                and plans have estimates only.

        Yields:
            One result for each statement. A refusal by the engine is a reason in the result, never
            an exception.
        """
        ...

    def close(self) -> None:
        """Close the connection that captures plans."""
        ...


@runtime_checkable
class PlaysPrograms(Protocol):
    """Interface of plan readers for programs, whose next statement depends on answers."""

    def play(self, statements: Iterable[PlanAsked], limit_s: float) -> Iterator[PlanAnswer]:
        """Execute a program's statements as they come, with the requested plans.

        All statements run in one transaction, which is rolled back when the iterator ends or is
        closed. Changes made by explaining a statement are undone before it is executed for its
        answer.

        Args:
            statements: Iterable that yields each statement after the answer to the previous one.
            limit_s: Time after which a plan's execution is cancelled; 0 means estimates only.

        Yields:
            One answer for each statement. A refusal by the engine is an error in the answer, never
            an exception.
        """
        ...


@runtime_checkable
class AsksPrepared(Protocol):
    """Interface of plan readers that capture plans of prepared statements."""

    def explain_prepared(
        self, statements: Sequence[tuple[str, Sequence[Sequence[object]]]], limit_s: float
    ) -> Iterator[Explained]:
        """Explain an operation by executing its statements, prepared as in timed sessions.

        The transaction and refusals are as in `PlanReader.explain`.

        Args:
            statements: Statements, each with several rows of values as executions draw them.
                Changes by the first row's execution remain for later statements; those of other
                rows are undone at once.
            limit_s: As in `explain`.
        """
        ...


@runtime_checkable
class TellsIndexes(Protocol):
    """Interface of plan readers that read the indexes of tables."""

    def indexes(self) -> list[Index]:
        """Return every index of the tables that sessions can access."""
        ...


@runtime_checkable
class TellsExtensions(Protocol):
    """Interface of plan readers that read the extensions of a database."""

    def extensions(self) -> dict[str, bool]:
        """Return the extensions that the server has, and whether the database uses them."""
        ...


@runtime_checkable
class AssumesIndexes(Protocol):
    """Interface of plan readers whose optimiser can assume that an index exists."""

    def assume_indexes(self, statements: Sequence[str]) -> None:
        """Let the optimiser assume, on this connection only, that indexes exist.

        Later plans without execution may use the indexes. Nothing on the server changes.

        Args:
            statements: Statements that would create the indexes.

        Raises:
            EngineError: If the server has no such function, or refuses a statement.
        """
        ...


@runtime_checkable
class TellsForeignKeys(Protocol):
    """Interface of plan readers that read foreign keys, if these have no index by default."""

    def foreign_keys(self) -> list[ForeignKey]:
        """Return every foreign key of tables other than the server's own."""
        ...


@runtime_checkable
class TellsTriggerTexts(Protocol):
    """Interface of plan readers that read the texts of triggers, if plans do not show triggers."""

    def trigger_texts(self) -> list[TriggerText]:
        """Return every trigger of tables other than the server's own that the role may see."""
        ...


@runtime_checkable
class TellsCollations(Protocol):
    """Interface of plan readers that read collations of columns, if comparisons convert columns."""

    def collations(self) -> dict[str, dict[str, Collation]]:
        """Return the collation of each text column of tables other than the server's, by table."""
        ...


@runtime_checkable
class TellsPartitionKeys(Protocol):
    """Interface of plan readers that read by which columns tables are partitioned."""

    def partition_keys(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of the partition key of each partitioned table."""
        ...


@runtime_checkable
class TellsNotifiers(Protocol):
    """Interface of plan readers that read which functions and triggers send notifications."""

    def notifiers(self) -> list[Notifier]:
        """Return the functions that notify other sessions, once for each trigger that calls it."""
        ...


@runtime_checkable
class TellsStatistics(Protocol):
    """Interface of plan readers that read statistics objects of several columns."""

    def statistics(self) -> list[Statistics]:
        """Return every statistics object of tables other than the server's own."""
        ...


@runtime_checkable
class TellsChangedSettings(Protocol):
    """Interface of plan readers that read which optimiser settings were changed."""

    def changed_settings(self) -> list[ChangedSetting]:
        """Return the settings of the timed sessions that differ from their default."""
        ...


@runtime_checkable
class AsksAlternatives(Protocol):
    """Interface of plan readers that get a plan with one setting changed."""

    def alternatives(
        self, operation: str, statements: Sequence[tuple[str, Sequence[object]]]
    ) -> list[Alternative]:
        """Return plans of an operation's statements with each changed setting at its default.

        Refused plans are omitted.
        """
        ...


@runtime_checkable
class CountsRows(Protocol):
    """Interface of plan readers that count the rows of a table that a plan's condition keeps."""

    def count_rows(self, scan: PlanNode, condition: str, limit_s: float) -> int | None:
        """Return the number of rows of a scan's table that fulfil a condition in the plan's words.

        The scan and the condition have the name of the table in the place of its alias.

        None if the engine refuses the query, for example because the plan's condition is not
        valid SQL, or if counting takes longer than `limit_s`.
        """
        ...


@runtime_checkable
class CountsWrites(Protocol):
    """Interface of plan readers whose engine writes rows also if their values stay the same."""

    def counts(
        self, query: str, values: Sequence[object], limit_s: float
    ) -> tuple[int, int] | None:
        """Return the two numbers of a query's only row, which the engine counts.

        None if the engine refuses the query, or if it takes longer than `limit_s`.
        """
        ...


@runtime_checkable
class HasPlans(Protocol):
    """Interface of engines that report query plans."""

    def plan_reader(self, instance: Instance) -> PlanReader:
        """Return a plan reader with its own connection, which sees the data that sessions see."""
        ...

    def plan(self, text: str, operation: str, statement: int, native: str) -> Plan:
        """Parse a plan in the engine's own format.

        The function has no side effects.

        Args:
            text: Plan in the engine's own form.
            operation: Operation of the plan.
            statement: Position of the statement in its operation.
            native: Name of the file that holds the text.

        Raises:
            ValueError: If the text is not a valid plan.
        """
        ...
