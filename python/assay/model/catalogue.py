"""Facts of an engine's catalogue that explain a plan: indexes, keys and changed settings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

# Kinds of changes: `custom` plans for each value instead of one for all, `statistics` just
# gathered.
ChangeKind = Literal["setting", "limit", "index", "rewrite", "custom", "statistics"]


@dataclass(frozen=True)
class Index:
    """One index of a table, from the engine's catalogue.

    Attributes:
        table: Name of the table, without its schema.
        name: Name of the index.
        columns: Names of its key columns in order. An expression is given as its text, and the
            beginning of a column with its length: `url(16)`.
        unique: Whether keys are unique.
        valid: Whether the optimiser may use it: built, and not hidden or disabled.
        predicate: Condition of a partial index; None means it indexes all rows.
        method: Index method, such as `btree` or `hash`; None if the engine does not report it.
        collation: Collation of its text columns if it differs from the column's; None otherwise.
        types: The engine's type names of its key columns; empty if the engine does not report them.
        state: The engine's word for the reason why the optimiser may not use it; None if it may, or
            the reason is not known.
        mend: The statement that makes the index usable.
        schema: Schema of the table; None if the engine does not report it.
        directions: Order of each key column: `asc` or `desc`, followed by `nulls first` or `nulls
            last` if that is not the engine's default; empty if the engine does not report it.
        collations: Collation of each key column in lower case, None for a column without one; empty
            if the engine reports only those that differ from the column's.
    """

    table: str
    name: str
    columns: tuple[str, ...]
    unique: bool = False
    valid: bool = True
    predicate: str | None = None
    method: str | None = None
    collation: str | None = None
    types: tuple[str, ...] = ()
    state: str | None = None
    mend: str | None = None
    schema: str | None = None
    directions: tuple[str, ...] = ()
    collations: tuple[str | None, ...] = ()

    @property
    def text(self) -> str:
        """Return an index's name, table and columns as text."""
        return f"{self.name} of {self.table} ({', '.join(self.columns)})"

    def facts(self) -> dict[str, Any]:
        """Return the index as JSON values."""
        return asdict(self)

    @classmethod
    def read(cls, facts: dict[str, Any]) -> Index:
        """Return the index description that JSON values give."""
        names = ("columns", "types", "directions", "collations")
        listed = {name: tuple(facts.get(name, ())) for name in names}
        return cls(**{**facts, **listed})


@dataclass(frozen=True)
class Collation:
    """The collation of a text column.

    Attributes:
        name: The engine's name of the collation, which names the character set, too.
        precedence: If two columns are compared, the one with the lower number is converted.
    """

    name: str
    precedence: int


@dataclass(frozen=True)
class ForeignKey:
    """Columns of a table that refer to rows of another table.

    Attributes:
        name: Name of the constraint.
        table: Table that has these columns, without its schema.
        columns: Names of the columns, in the order of the key.
        refers_to: Referenced table, without its schema.
        schema: Schema of the table that has the columns.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    refers_to: str
    schema: str | None = None

    def facts(self) -> dict[str, Any]:
        """Return the foreign key as JSON values."""
        return asdict(self)

    @classmethod
    def read(cls, facts: dict[str, Any]) -> ForeignKey:
        """Return the foreign key from JSON values."""
        return cls(**{**facts, "columns": tuple(facts["columns"])})


@dataclass(frozen=True)
class Notifier:
    """A function that sends notifications to other sessions, and a trigger that calls it.

    Attributes:
        function: Name of the function, without its schema.
        table: Table of the trigger, without its schema; None if no trigger calls the function.
        trigger: Name of the trigger.
    """

    function: str
    table: str | None = None
    trigger: str | None = None

    def facts(self) -> dict[str, Any]:
        """Return the notifying function as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class TriggerText:
    """The definition of a trigger.

    Attributes:
        name: Name of the trigger.
        table: Table whose change fires it, without its schema.
        event: `insert`, `update` or `delete`.
        body: Statement, or block of statements, that it executes.
        schema: Schema of the table.
    """

    name: str
    table: str
    event: str
    body: str
    schema: str | None = None

    def facts(self) -> dict[str, Any]:
        """Return the definition as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Statistics:
    """A statistics object: statistics of several columns together, or of expressions.

    Attributes:
        name: Name of the object.
        table: Name of the table, without its schema.
        columns: Names of its plain columns.
        kinds: The engine's names of the gathered kinds, such as `mcv` (most common values).
        definition: Statement that creates it, with its expressions.
        gathered: Whether the statistics were gathered since it exists; None if not known.
        schema: Schema of the table; None if the engine does not report it.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    definition: str
    gathered: bool | None = None
    schema: str | None = None

    def facts(self) -> dict[str, Any]:
        """Return the statistics object as JSON values."""
        return asdict(self)

    @classmethod
    def read(cls, facts: dict[str, Any]) -> Statistics:
        """Return the statistics object from JSON values."""
        return cls(**{**facts, **{name: tuple(facts[name]) for name in ("columns", "kinds")}})


@dataclass(frozen=True)
class ChangedSetting:
    """A setting of the optimiser or executor that differs from the engine's default.

    Attributes:
        name: Name of the setting in the engine.
        value: Value in the timed sessions.
        default: The engine's built-in default.
    """

    name: str
    value: str
    default: str

    def facts(self) -> dict[str, Any]:
        """Return the setting that differs from its default as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Alternative:
    """The plan that the optimiser would choose after one change, such as another setting.

    Attributes:
        operation: Operation of the plan.
        statement: Position of the statement in the operation, from 0.
        kind: Kind of change.
        change: Name of the changed setting, or of the added index.
        value: Value with the change, such as the default of a setting.
        cost: The optimiser's cost of the chosen plan; None if it reports none.
        cost_changed: The optimiser's cost with the change.
        differs: Whether the change gives a plan of another shape.
        indexes: Indexes that the changed plan reads and the chosen one does not.
        summary: Operators of the changed plan in one line, the root first.
        seconds: Mean time of the chosen plan, including planning if each execution is planned;
            None if the plans were not executed.
        seconds_changed: Mean time with the change, for the same parameter values.
        cancelled: True if the chosen plan was cancelled after `seconds`, so it takes longer.
    """

    operation: str
    statement: int
    kind: ChangeKind
    change: str
    value: str | None
    cost: float | None
    cost_changed: float | None
    differs: bool
    indexes: tuple[str, ...] = ()
    summary: str | None = None
    seconds: float | None = None
    seconds_changed: float | None = None
    cancelled: bool = False

    def facts(self) -> dict[str, Any]:
        """Return the alternative plan as JSON values."""
        return asdict(self)

    @classmethod
    def read(cls, facts: dict[str, Any]) -> Alternative:
        """Return the alternative plan from JSON values."""
        return cls(**{**facts, "indexes": tuple(facts["indexes"])})


@dataclass(frozen=True)
class WrittenRows:
    """Rows that updates of a statement write, counted after the run with values of some executions.

    Attributes:
        operation: Operation of the statement.
        statement: Position of the statement in the operation, from 0.
        rows: Number of rows that the statement updates.
        changed: Number of these rows whose values differ from the new ones, apart from the time of
            the update.
    """

    operation: str
    statement: int
    rows: int
    changed: int

    def facts(self) -> dict[str, Any]:
        """Return the counted rows as JSON values."""
        return asdict(self)

    @classmethod
    def read(cls, facts: dict[str, Any]) -> WrittenRows:
        """Return the counted rows from JSON values."""
        return cls(**facts)


@dataclass(frozen=True)
class KeptRows:
    """Rows of a table that a part of a scan's condition keeps, counted after the scan.

    Attributes:
        operation: Operation of the plan.
        statement: Position of the statement in the operation, from 0.
        table: The scanned table, as in the plan.
        condition: The part of the condition, in the engine's own words.
        rows: Number of rows.
    """

    operation: str
    statement: int
    table: str
    condition: str
    rows: int

    def facts(self) -> dict[str, Any]:
        """Return the counted rows as JSON values."""
        return asdict(self)

    @classmethod
    def read(cls, facts: dict[str, Any]) -> KeptRows:
        """Return the counted rows from JSON values."""
        return cls(**facts)
