"""Facts of an engine's catalogue that explain a plan: indexes, keys and changed settings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

# `custom`: plans for each value instead of one for all values; `statistics`: gathered just before.
ChangeKind = Literal["setting", "index", "rewrite", "custom", "statistics"]


@dataclass(frozen=True)
class Index:
    """One index of a table, as the engine's catalogue has it.

    Attributes:
        table: Name of the table, without its schema.
        name: Name of the index.
        columns: Names of its key columns in order; an expression stands as its text.
        unique: Whether keys are unique.
        valid: Whether the optimiser may use it: built, and not hidden or disabled.
        predicate: Condition of a partial index; None: of all rows.
        method: Such as `btree` or `hash`; None: the engine does not say.
        collation: Collation of its text columns where it is not that of the column; None otherwise.
        types: Types of its key columns, in the engine's words; empty: the engine does not say.
        state: Why the optimiser may not use it, in the engine's word; None: it may, or that is
            all that is known.
        mend: The statement after which it may.
        schema: Schema of the table; None: the engine does not say.
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

    @property
    def text(self) -> str:
        """Name, table and columns, as people read them."""
        return f"{self.name} of {self.table} ({', '.join(self.columns)})"

    def facts(self) -> dict[str, Any]:
        """Return the column's facts as JSON values."""
        return asdict(self)

    @classmethod
    def read(cls, facts: dict[str, Any]) -> Index:
        """The index that `facts` was made from."""
        listed = {name: tuple(facts.get(name, ())) for name in ("columns", "types")}
        return cls(**{**facts, **listed})


@dataclass(frozen=True)
class ForeignKey:
    """Columns of a table that refer to rows of another one.

    Attributes:
        name: Name of the constraint.
        table: The table that has these columns, without its schema.
        columns: Their names, in the order of the key.
        refers_to: The other table, without its schema.
        schema: Schema of the table that has the columns.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    refers_to: str
    schema: str | None = None

    def facts(self) -> dict[str, Any]:
        """Return the index's facts as JSON values."""
        return asdict(self)

    @classmethod
    def read(cls, facts: dict[str, Any]) -> ForeignKey:
        """The key that `facts` was made from."""
        return cls(**{**facts, "columns": tuple(facts["columns"])})


@dataclass(frozen=True)
class ChangedSetting:
    """A setting of the optimiser or executor that is away from the engine's default.

    Attributes:
        name: The engine's word.
        value: In force in the timed sessions.
        default: The engine's own, as it is built.
    """

    name: str
    value: str
    default: str

    def facts(self) -> dict[str, Any]:
        """Return the table's facts as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Alternative:
    """The plan that the optimiser would choose if one thing were changed.

    Attributes:
        operation: The operation.
        statement: Which of its statements, from 0.
        kind: What sort of change it is.
        change: What is changed: the name of a setting, or of an index that would be there.
        value: Its value with the change, such as the default of a setting.
        cost: Cost of the chosen plan by the optimiser; None: it does not say.
        cost_changed: With the change.
        differs: Whether the plan has another shape with the change.
        indexes: Indexes that the changed plan reads and the chosen one does not.
        summary: Operators of the changed plan, the root first, in one line.
        seconds: Mean time of the chosen plan, planning included where it is planned each time;
            None: neither plan was executed.
        seconds_changed: With the change, over the same values.
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

    def facts(self) -> dict[str, Any]:
        """Return the catalogue's facts as JSON values."""
        return asdict(self)

    @classmethod
    def read(cls, facts: dict[str, Any]) -> Alternative:
        """The alternative that `facts` was made from."""
        return cls(**{**facts, "indexes": tuple(facts["indexes"])})
