"""Reads `techniques.toml`: planner and executor techniques that can be switched off.

The file also has the way to give one operation such settings, and to force the join order of a
query's text.
"""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assay.engines.contract import EngineError
from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

PLACEHOLDERS = frozenset({"name", "value"})
Name = Literal["begin", "set", "clear", "end"]
Join = Literal["inner", "cross", "straight_join"]
# Plan operators that an engine may be able to switch off.
Operator = Literal["scan", "index scan", "bitmap scan", "hash join", "merge join", "nested loop"]


class Technique(BaseModel):
    """A planner or executor technique that can be switched off, such as hash joins.

    Attributes:
        says: Short name, used as in "without hash joins".
        off: Settings that switch it off.
        plans: Whether the technique changes the plan: join methods, access paths, sorts.
        operators: Plan operators that only this technique makes, by the names of
            `model.plan.OPERATORS`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    says: str = Field(min_length=1)
    off: dict[str, str] = Field(min_length=1)
    plans: bool = False
    operators: tuple[Operator, ...] = ()


class Forcing(BaseModel):
    """SQL files that give one operation its own settings and reset them afterwards.

    Attributes:
        begin, end: Statements before and after the operation.
        set: Statement that changes one setting, by `$name` and `$value`.
        clear: Statement that resets a setting, by `$name`; for engines that keep it after a
            failure.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    begin: str | None = None
    set: str
    clear: str | None = None
    end: str | None = None


class Orders(BaseModel):
    """The means to make an engine join tables in the order of a query's text.

    Attributes:
        settings: Required settings, besides the query's text.
        join: Keyword between two tables.
        nested: Whether a join may be the right side of another one, in parentheses.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    settings: dict[str, str] = {}
    join: Join = "inner"
    nested: bool = False


class TechniquesFacts(BaseModel):
    """The content of `techniques.toml`: planner techniques that can be switched off.

    Unknown keys of `techniques.toml` are errors.

    Attributes:
        separators: Separators of settings that are lists; the parts of several techniques are
            joined by them.
        techniques: Techniques by name.
        forcing: Means to give one operation its own settings; None if there are none.
        orders: Means to force a join order; None if there are none.
        without: Techniques that are deliberately not listed, each with the reason.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    separators: dict[str, str] = {}
    techniques: dict[str, Technique] = {}
    forcing: Forcing | None = None
    orders: Orders | None = None
    without: dict[str, str] = {}

    def technique_named(self, name: str) -> Technique:
        """Return a planner technique by its name.

        Raises `UsageError` with the most similar name, or the reason why it is not listed.
        """
        if name in self.techniques:
            return self.techniques[name]
        if name in self.without:
            raise UsageError(f"{name!r} cannot be switched off: {self.without[name]}")
        if not self.techniques:
            raise UsageError("the engine declares no technique that can be switched off")
        raise UsageError(
            f"the engine has no technique {name!r}; {suggestion(name, sorted(self.techniques))}"
        )

    def techniques_of(self, operator: str) -> list[str]:
        """Return the names of the techniques that make a plan operator; empty without a switch."""
        return [name for name, facts in self.techniques.items() if operator in facts.operators]

    def settings_without(self, names: Iterable[str]) -> dict[str, str]:
        """Return the settings that switch planner techniques off.

        Raises `UsageError` for an unknown technique.
        """
        return self.joined(self.technique_named(name).off for name in dict.fromkeys(names))

    def joined(self, several: Iterable[Mapping[str, str]]) -> dict[str, str]:
        """Return merged settings of several techniques: lists are concatenated."""
        made: dict[str, str] = {}
        for settings in several:
            for name, value in settings.items():
                if name in made and name in self.separators:
                    made[name] += self.separators[name] + value
                else:
                    made[name] = value
        return made


def read_techniques(document: Mapping[str, Any], file: Path) -> TechniquesFacts:
    """Return the techniques of one `techniques.toml`.

    Raises:
        EngineError: If the file has an error. The error message has file, key and remedy.
    """
    try:
        facts = TechniquesFacts.model_validate(document)
    except ValidationError as error:
        first = min(error.errors(), key=lambda detail: detail["type"] != "extra_forbidden")
        key = ".".join(str(part) for part in first["loc"])
        unknown = first["type"] == "extra_forbidden"
        models: dict[str, type[BaseModel]] = {
            "techniques": Technique,
            "forcing": Forcing,
            "orders": Orders,
        }
        model = models.get(str(first["loc"][0]), TechniquesFacts)
        hint = f"; {suggestion(str(first['loc'][-1]), list(model.model_fields))}" if unknown else ""
        raise EngineError(f"{file}: {key}: {first['msg']}{hint}") from error
    for name in filter(None, (facts.forcing.model_dump() if facts.forcing else {}).values()):
        _check_template(file.parent / name)
    return facts


def forced(facts: TechniquesFacts, folder: Path, sql: str, settings: Mapping[str, str]) -> str:
    """Return the text of an operation with its own settings: several statements.

    Args:
        facts: Facts of an engine that has `forcing`.
        folder: Directory of the engine's SQL files.
        sql: Text of the operation, without a semicolon at its end.
        settings: Settings of this operation only.
    """
    assert facts.forcing is not None  # noqa: S101 - asked before
    forcing = facts.forcing

    def filled(file: str | None, **values: str) -> list[str]:
        if file is None:
            return []
        text = (folder / file).read_text(encoding="utf-8").strip().removesuffix(";")
        return [Template(text).substitute(values)]

    cleared = [
        statement for name in _all_settings(facts) for statement in filled(forcing.clear, name=name)
    ]
    given = [
        statement
        for name, value in settings.items()
        for statement in filled(forcing.set, name=name, value=value)
    ]
    parts = [*filled(forcing.begin), *cleared, *given, sql, *filled(forcing.end)]
    return ";\n".join(parts) + ";\n"


def _all_settings(facts: TechniquesFacts) -> list[str]:
    """Return the names of all settings that forced plans may leave set."""
    of_plans = [technique.off for technique in facts.techniques.values() if technique.plans]
    of_orders = facts.orders.settings if facts.orders is not None else {}
    return list(dict.fromkeys(name for settings in (*of_plans, of_orders) for name in settings))


def _check_template(path: Path) -> None:
    try:
        template = Template(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise EngineError(f"{path} cannot be read: {error}") from error
    strange = set(template.get_identifiers()) - PLACEHOLDERS
    if strange or not template.is_valid():
        named = f"${min(strange)}" if strange else "a lone $"
        raise EngineError(
            f"{path}: {named} is not a known placeholder; known: $name, $value, $$ for a $"
        )
