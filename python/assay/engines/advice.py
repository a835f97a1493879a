"""`advice.toml`: how one engine does what findings advise in words that are no engine's."""

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
    """An engine cannot do what is advised; the message says why."""


class CheaperValue(BaseModel):
    """A value of a setting with which commits wait less.

    Attributes:
        value: As the engine takes it.
        but: What is given up for it, in words.
        alike: Other values with which commits wait no more than with it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: str
    but: str
    alike: tuple[str, ...] = ()


class SettingFacts(BaseModel):
    """The setting that plays a role.

    Attributes:
        name: As the engine has it.
        values: How a value is written.
        on, off: The words of a switch.
        limits: Of memory, what may use that much, in words; of a timeout, what is waited for.
        cheaper: The value under which commits wait less, and what that costs, in words.
        needs: Another setting and its values, in lower case, without which this one does nothing.
        session: Whether each session can have a value of its own.
        restart: Whether a server has to be started anew for another value.
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
        setting: As the engine has it.
        values: Values that cost, in lower case.
        above: Numbers above this cost; None: no number does.
        part: Path of the node of the time tree in which it costs.
        says: What the engine does then.
        default: The value that costs nothing.
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
        undo: File of SQL that takes it back; None: no statement does.
        costs: What it costs beside its gain, as a clause.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    make: str
    undo: str | None = None
    costs: str


class AdviceFacts(BaseModel):
    """`advice.toml`. Unknown keys are errors.

    Attributes:
        quote: Stands around names in SQL; doubled where it is part of one.
        expressions: Whether an index may be of an expression.
        by_column: Whether tables are stored column by column, so that scans read on fast.
        sizes: Words behind a number of bytes, with what each is.
        sizes_in_sql: Whether a size in SQL has these words; else it is a number of bytes.
        settings: By role.
        statements: Files of SQL by what they do, with `$table`, `$columns` and `$name` of an index;
            that of a trigger, which switches it off, has `$trigger` and `$table`.
        running: How the same is done on a server that others use, by what is done.
        beside: What a statement does beside what it is for, in words.
        costly: Settings that cost time by themselves.
        upkeep: Settings that pace upkeep, by the sort of work in the engine's words.
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
            role: One of `ROLES`.
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
    """The facts of one `advice.toml`; its files of SQL are there.

    Raises:
        EngineError: With file, key and mend.
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
