"""`advice.toml`: how one engine carries out the engine-independent advice of findings."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from assay.engines.contract import EngineError
from assay.model.errors import suggestion
from assay.model.sql import PLACEHOLDERS, statement_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# What settings are for.
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
    "temporary_memory",
)

Doing = Literal["index", "statistics", "vacuum", "trigger"]
RunningChange = Literal["index", "statistics", "vacuum", "setting"]


class CannotError(Exception):
    """Error: an engine cannot carry out the advice. The message says why."""


class CheaperValue(BaseModel):
    """A value of a setting with which commits wait less.

    Attributes:
        value: Value in the engine's form.
        but: Disadvantage of the value, in words.
        alike: Other values with which commits wait no more than with it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: str
    but: str
    alike: tuple[str, ...] = ()


class SettingFacts(BaseModel):
    """The engine's setting for a role, such as work memory.

    Attributes:
        name: Name of the setting in the engine.
        values: Form of a value.
        on, off: Values of a switch.
        limits: Consumer that a memory setting limits, or event that a timeout waits for, in words.
        cheaper: The value with which commits wait less, and its disadvantage in words.
        needs: Another setting and its values, in lower case, without which this one does nothing.
        session: Whether each session can have its own value.
        restart: Whether a new value requires a restart of the server.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    needs: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    values: Literal["bytes", "switch", "count"] = "switch"
    on: str = "on"
    off: str = "off"
    limits: str | None = None
    cheaper: CheaperValue | None = None
    session: bool = False
    restart: bool = False


class CostlyFacts(BaseModel):
    """A setting that costs time by itself.

    Attributes:
        setting: Name of the setting in the engine.
        values: Values that cost, in lower case.
        above: Numbers above this have a cost; None if no number has.
        part: Path of the node of the time tree in which it costs.
        says: Behaviour of the engine with such a value.
        default: The value without this cost.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    setting: str
    values: tuple[str, ...] = ()
    above: float | None = None
    part: str
    says: str
    default: str


class RunningFacts(BaseModel):
    """The declared ways to make a change on a server that others use meanwhile.

    Attributes:
        make: File of SQL that makes it.
        undo: SQL file that reverts the change; None if no statement can.
        costs: Disadvantages of the change, as a clause.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    make: str
    undo: str | None = None
    costs: str


class AdviceFacts(BaseModel):
    """`advice.toml`. Unknown keys are errors.

    Attributes:
        quote: Quote character for names in SQL. It is doubled within a name.
        expressions: Whether an index may be of an expression.
        by_column: Whether tables are stored column by column, so that scans read on fast.
        sizes: Units of sizes, with their number of bytes.
        sizes_in_sql: Whether a size in SQL has these units. Otherwise it is a number of bytes.
        settings: Settings by role.
        statements: Files of SQL by what they do, with `$table`, `$columns` and `$name` of an index;
            that of a trigger, which switches it off, has `$trigger` and `$table`.
        running: Statements for a server that others use, by action.
        beside: Side effects of a statement, in words.
        costly: Settings that cost time by themselves.
        upkeep: Settings that pace maintenance, by the engine's name of the work.
        without: Roles and statements that the engine has no need of, each with the reason.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    quote: str = '"'
    expressions: bool = False
    by_column: bool = False
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
                raise ValueError(f"no setting has the role {role!r}; {suggestion(role, [*ROLES])}")
        return settings

    def setting(self, role: str, value: str) -> tuple[str, str]:
        """Name and value of the setting of a role, as the engine takes them.

        Args:
            role: The role, one of `ROLES`.
            value: Bytes or a count in digits, `on` or `off`.

        Raises:
            CannotError: If the engine has none, or the value is not of its sort.
        """
        if role not in self.settings:
            raise CannotError(self.without.get(role, f"it has no setting for {_spaced(role)}"))
        facts = self.settings[role]
        return facts.name, self._value(facts, value.strip())

    def statement(
        self,
        template: str,
        table: str,
        columns: Sequence[str] = (),
        *,
        expression: str | None = None,
        trigger: str = "",
    ) -> str:
        """A file's SQL with the names in it, quoted; an index may be of an expression."""
        return statement_of(
            template, table, columns, expression=expression, trigger=trigger, quote=self.quote
        )

    def _value(self, facts: SettingFacts, value: str) -> str:
        if facts.values == "switch" and value in {"on", "off"}:
            return facts.on if value == "on" else facts.off
        if facts.values in {"count", "bytes"} and value.isdecimal():
            return value if facts.values == "count" else self._size(int(value))
        raise CannotError(f"{value!r} is no value of {facts.name} (it takes a {facts.values})")

    def _size(self, size_bytes: int) -> str:
        """In the largest word that it is a whole number of, rounded up to one of the smallest."""
        units = sorted(self.sizes.items(), key=lambda word: -word[1])
        if not units:
            return str(size_bytes)
        for word, step in units:
            if size_bytes >= step and size_bytes % step == 0:
                return f"{size_bytes // step}{word}"
        word, step = units[-1]
        return f"{-(-size_bytes // step)}{word}"


def read_advice(document: Mapping[str, Any], file: Path) -> AdviceFacts:
    """Return the facts of one `advice.toml`, after a check that its SQL files exist.

    Raises:
        EngineError: If the file has an error. The message has file, key and remedy.
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
    """Return the files of SQL that make a change and take it back."""
    return (facts.make,) if facts.undo is None else (facts.make, facts.undo)


def _check_template(file: Path, doing: str, path: Path) -> None:
    try:
        template = Template(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise EngineError(f"{file}: {doing}: {path} cannot be read: {error}") from error
    strange = set(template.get_identifiers()) - PLACEHOLDERS
    if strange or not template.is_valid():
        named = f"${min(strange)}" if strange else "a lone $"
        known = ", ".join(f"${name}" for name in sorted(PLACEHOLDERS))
        raise EngineError(f"{path}: {named} stands for nothing; known: {known}, and $$ for a $")


def _spaced(role: str) -> str:
    return role.replace("_", " ")
