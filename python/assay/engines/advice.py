"""Reads `advice.toml`: how one engine makes the changes that findings advise."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from assay.engines.contract import EngineError
from assay.model.errors import suggestion
from assay.model.finding import TableChange
from assay.model.sql import PLACEHOLDERS, statement_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# Purposes of settings.
ROLES = (
    "work_memory",
    "cache",
    "jit",
    "parallel_workers",
    "log_size",
    "heap",
    "log_mode",
    "commit_sync",
    "second_log_sync",
    "lock_timeout",
    "lock_scope",
    "deadlock_timeout",
    "isolation",
    "table_cache",
    "pool_groups",
    "temporary_memory",
    "plan_reuse",
)

Doing = Literal[
    TableChange,
    "trigger",
    "stable-function",
    "dropped-index",
    "stored-values",
    "row-order",
    "alike-columns",
    "temporary-statistics",
]
RunningChange = Literal[TableChange, "setting"]


class CannotError(Exception):
    """Error: an engine cannot make an advised change.

    The error message says why.
    """


class CheaperValue(BaseModel):
    """A value of a setting that shortens commits or waits, with its disadvantage.

    Attributes:
        value: Value in the engine's form.
        but: Disadvantage of the value.
        alike: Other values with the same effect.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: str
    but: str
    alike: tuple[str, ...] = ()


class SettingFacts(BaseModel):
    """The engine's setting for a role, such as work memory.

    Attributes:
        name: Name of the setting in the engine.
        effective: Name under which the server reports it, if that is another.
        values: Form of its values.
        on, off: Values of the setting that switch it on and off.
        limits: Consumer that a memory setting limits, event that a timeout waits for, or what a
            value other than the cheaper ones does.
        cheaper: Value that shortens commits or waits, and its disadvantage.
        needs: Another setting with values, in lower case, that this setting requires to have an
            effect.
        also: Other settings that limit the same and get the same value.
        session: Whether each session can have its own value.
        restart: Whether a new value requires a restart of the server.
        passed_by: For a cache, data that each session reads from files without it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    effective: str | None = None
    needs: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    values: Literal["bytes", "switch", "count"] = "switch"
    on: str = "on"
    off: str = "off"
    limits: str | None = None
    cheaper: CheaperValue | None = None
    also: tuple[str, ...] = ()
    session: bool = False
    restart: bool = False
    passed_by: str | None = None


class CostlyFacts(BaseModel):
    """A setting that takes time by itself, such as a log of each statement.

    Attributes:
        setting: Name of the setting in the engine.
        values: Values that cost time, in lower case.
        above: Numbers above this cost time; None if no number does.
        part: Path of the node in the time tree that contains the cost.
        says: Behaviour of the engine with a costly value.
        default: Value without this cost.
        seconds: For a setting that delays each statement, the length of one unit of its value in
            seconds; None for other settings.
        changes: Whether only statements that change rows have the cost.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    setting: str
    values: tuple[str, ...] = ()
    above: float | None = None
    part: str
    says: str
    default: str
    seconds: float | None = None
    changes: bool = False


class SearchFacts(BaseModel):
    """Operators whose rows only an index of another access method than the default finds.

    Attributes:
        operators: Operators, as plans write them.
        values: Regular expression that matches the type of the compared value.
        literal: Regular expression that occurs in a value by which such an index finds few rows.
        method: Access method of the index.
        operator_class: Operator class of the index; None means the default of the column's type.
        extension: Extension that has the operator class; None if the engine itself has it.
        doubt: Reason why the index may read more rows than fulfil the condition, as the end of a
            sentence; None if it reads these rows only.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    operators: tuple[str, ...]
    values: str
    literal: str = ""
    method: str
    operator_class: str | None = None
    extension: str | None = None
    doubt: str | None = None


class IgnoringCaseFacts(BaseModel):
    """A setting by which `like` ignores case, and the index that serves it then.

    Attributes:
        setting: Name of the setting in the engine.
        value: Value with which `like` ignores case; it is the engine's default.
        prefix_key: Key of an index that serves a comparison with a prefix then, with `$column`.
        instead: Change of the statement with which the usual index serves, with `$column`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    setting: str
    value: str
    prefix_key: str
    instead: str


class IndexOrderFacts(BaseModel):
    """Directions that the columns of an engine's indexes can have.

    Attributes:
        descending: Whether columns can be descending.
        since: First version with descending columns; None if all versions have them.
        nulls: Whether a column can have nulls first or last, whatever its direction is.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    descending: bool = True
    since: str | None = None
    nulls: bool = False


class RunningFacts(BaseModel):
    """SQL files that make a change on a server that other clients use, and undo it.

    Attributes:
        make: SQL file that makes the change.
        undo: SQL file that reverts the change; None if no statement can.
        costs: Disadvantages of the change, worded as a clause.
        session: Clause that is added for a setting that each session can have for itself; None
            without one.
        assumed_by: Extension with which the optimiser can assume the change without making it;
            None without one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    make: str
    undo: str | None = None
    costs: str
    session: str | None = None
    assumed_by: str | None = None


class AdviceFacts(BaseModel):
    """The content of `advice.toml`: how an engine makes advised changes.

    Unknown keys of `advice.toml` are errors.

    Attributes:
        quote: Quote character for names in SQL. The quote character is doubled within a name.
        expressions: Whether an index on an expression is possible.
        prefix_key: Key of an index that serves a comparison with the beginning of a text (`like
            'abc%'`), with `$column`; None if any index of the column does.
        ignoring_case: Setting by which `like` ignores case; None if no setting changes `like`.
        searches: Operators that an index of the default access method does not serve; the first
            entry that fits a condition applies.
        index_order: Directions of index columns; None if they are not known.
        texts_on_disk: Whether temporary tables with columns of type text or blob are stored on disk
            with any memory.
        partial_indexes: Whether an index can have a part of a table's rows only.
        by_column: Whether tables are stored by column, so that scans read them fast.
        serial_statements: Regular expression that occurs in statements which the engine never
            executes in parallel; None if it does not tell them from others.
        sizes: Units of sizes, with their number of bytes.
        sizes_in_sql: Whether sizes in SQL are written with these units; otherwise a size is a
            number of bytes.
        settings: Settings by role.
        statements: SQL files by purpose, with `$table`, `$columns` and `$name` of an index. The
            files that switch off a trigger and drop an index have `$existing`, its name, and
            `$table`. The file that adds a column with a computed value has `$table`, `$column`,
            `$type` and `$expression`. The file that gives a column the character set and collation
            of another one has `$table`, `$column`, and the names as strings: `$table_text`,
            `$column_text`, `$like_table_text` and `$like_column_text`.
        running: Statements by action for a server that other clients use.
        beside: Side effects of a statement.
        costly: Settings that cost time by themselves.
        upkeep: Settings that pace maintenance, by the engine's name of the work.
        without: Roles and statements that the engine does not need, each with the reason.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    quote: str = '"'
    expressions: bool = False
    prefix_key: str | None = None
    ignoring_case: IgnoringCaseFacts | None = None
    index_order: IndexOrderFacts | None = None
    texts_on_disk: bool = False
    searches: tuple[SearchFacts, ...] = ()
    partial_indexes: bool = False
    by_column: bool = False
    serial_statements: str | None = None
    sizes: dict[str, int] = {}
    sizes_in_sql: bool = False
    settings: dict[str, SettingFacts] = {}
    statements: dict[Doing, str] = {}
    running: dict[RunningChange, RunningFacts] = {}
    beside: dict[Doing, str] = {}
    costly: tuple[CostlyFacts, ...] = ()
    upkeep: dict[str, tuple[str, ...]] = {}
    without: dict[str, str] = {}

    @field_validator("settings")
    @classmethod
    def _check_roles(cls, settings: dict[str, SettingFacts]) -> dict[str, SettingFacts]:
        for role in settings:
            if role not in ROLES:
                raise ValueError(
                    f"no setting of the engine has the role {role!r}; {suggestion(role, [*ROLES])}"
                )
        return settings

    def setting(self, role: str, value: str) -> tuple[str, str]:
        """Return the name and value of a role's setting, in the engine's form.

        Args:
            role: The role, one of `ROLES`.
            value: Bytes or a count in digits, `on` or `off`.

        Raises:
            CannotError: If the engine has no such setting, or the value has a wrong form.
        """
        if role not in self.settings:
            raise CannotError(self.without.get(role, f"it has no setting for {_spaced(role)}"))
        facts = self.settings[role]
        return facts.name, self._value(facts, value.strip())

    def all_settings(self, role: str, value: str) -> dict[str, str]:
        """Return the settings that carry out a role's value, such as 64 MB of work memory.

        Raises the errors of `setting`.
        """
        name, text = self.setting(role, value)
        return dict.fromkeys((name, *self.settings[role].also), text)

    def statement(
        self,
        template: str,
        table: str,
        columns: Sequence[str] = (),
        *,
        expression: str | None = None,
        method: str | None = None,
        predicate: str | None = None,
        existing: str = "",
    ) -> str:
        """Return the SQL of an advised change, with quoted names filled in."""
        return statement_of(
            template,
            table,
            columns,
            expression=expression,
            method=method,
            predicate=predicate,
            existing=existing,
            quote=self.quote,
        )

    def _value(self, facts: SettingFacts, value: str) -> str:
        if facts.values == "switch" and value in {"on", "off"}:
            return facts.on if value == "on" else facts.off
        if facts.values in {"count", "bytes"} and value.isdecimal():
            return value if facts.values == "count" else self._size(int(value))
        raise CannotError(f"{value!r} is no value of {facts.name} (it takes a {facts.values})")

    def _size(self, size_bytes: int) -> str:
        """Return a size in the largest unit that divides it, else rounded up in the smallest."""
        units = sorted(self.sizes.items(), key=lambda word: -word[1])
        if not units:
            return str(size_bytes)
        for word, step in units:
            if size_bytes >= step and size_bytes % step == 0:
                return f"{size_bytes // step}{word}"
        word, step = units[-1]
        return f"{-(-size_bytes // step)}{word}"


def read_advice(document: Mapping[str, Any], file: Path) -> AdviceFacts:
    """Return the facts of one `advice.toml`, whose SQL files must exist.

    Raises:
        EngineError: If the file has an error. The error message has file, key and remedy.
    """
    try:
        facts = AdviceFacts.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        model = SettingFacts if first["loc"][0] == "settings" else AdviceFacts
        unknown = first["type"] == "extra_forbidden"
        word = str(first["loc"][-1])
        hint = f"; {suggestion(word, list(model.model_fields))}" if unknown else ""
        raise EngineError(f"{file}: {key}: {first['msg']}{hint}") from error
    for doing, name in facts.statements.items():
        _check_template(file, f"statements.{doing}", file.parent / name)
    for change, running in facts.running.items():
        for name in running_files(running):
            _check_template(file, f"running.{change}", file.parent / name)
    return facts


def running_files(facts: RunningFacts) -> tuple[str, ...]:
    """Return the SQL files that make an advised change and undo it."""
    return (facts.make,) if facts.undo is None else (facts.make, facts.undo)


def _check_template(file: Path, doing: str, path: Path) -> None:
    try:
        template = Template(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise EngineError(f"{file}: {doing}: {path} cannot be read: {error}") from error
    strange = set(template.get_identifiers()) - PLACEHOLDERS
    if strange or not template.is_valid():
        named = f"${min(strange)}" if strange else "a lone $"
        placeholders = ", ".join(f"${name}" for name in sorted(PLACEHOLDERS))
        raise EngineError(
            f"{path}: {named} is not a known placeholder; known: {placeholders}, and $$ for a $"
        )


def _spaced(role: str) -> str:
    return role.replace("_", " ")
