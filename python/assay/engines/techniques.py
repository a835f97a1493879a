"""`techniques.toml`: what of one engine's planner and executor can be switched off, and how.

It also says how one operation takes such settings for itself, between others that have none, and
how the engine is made to join tables in the order in which a query names them.
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


class Technique(BaseModel):
    """Something that an engine does and could leave.

    Attributes:
        says: What it is, in a few words: as in "without hash joins".
        off: Settings that switch it off.
        plans: Whether it is a matter of the plan: what is joined, read and sorted how.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    says: str = Field(min_length=1)
    off: dict[str, str] = Field(min_length=1)
    plans: bool = False


class Forcing(BaseModel):
    """Files of SQL that give one operation settings of its own, and take them away again.

    Attributes:
        begin, end: Stand around the operation.
        set: One setting, by `$name` and `$value`.
        clear: A setting, by `$name`, as it was; for engines that would keep it after a failure.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    begin: str | None = None
    set: str
    clear: str | None = None
    end: str | None = None


class Orders(BaseModel):
    """The means to make an engine join tables in the order that a query names.

    Attributes:
        settings: What it takes beside the query's text.
        join: The word between two tables.
        nested: Whether a join may stand on the right of another one, in parentheses.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    settings: dict[str, str] = {}
    join: Join = "inner"
    nested: bool = False


class TechniquesFacts(BaseModel):
    """`techniques.toml`. Unknown keys are errors.

    Attributes:
        separators: Settings that are lists, by what stands between their parts: those of several
            techniques are joined.
        techniques: Techniques by name.
        forcing: None: no operation can have settings of its own.
        orders: None: nothing makes it join in a given order.
        without: Techniques that are deliberately not listed, each with the reason.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    separators: dict[str, str] = {}
    techniques: dict[str, Technique] = {}
    forcing: Forcing | None = None
    orders: Orders | None = None
    without: dict[str, str] = {}

    def technique_named(self, name: str) -> Technique:
        """A technique. Raises `UsageError` with the nearest, or why there is none."""
        if name in self.techniques:
            return self.techniques[name]
        if name in self.without:
            raise UsageError(f"{name!r} cannot be switched off: {self.without[name]}")
        if not self.techniques:
            raise UsageError("it names no technique that can be switched off")
        raise UsageError(f"no technique {name!r}; {suggestion(name, sorted(self.techniques))}")

    def settings_without(self, names: Iterable[str]) -> dict[str, str]:
        """Settings that switch techniques off. Raises `UsageError` for what is not known."""
        return self.joined(self.technique_named(name).off for name in dict.fromkeys(names))

    def joined(self, several: Iterable[Mapping[str, str]]) -> dict[str, str]:
        """Settings together; parts of a list one after another, of any other the last one wins."""
        made: dict[str, str] = {}
        for settings in several:
            for name, value in settings.items():
                if name in made and name in self.separators:
                    made[name] += self.separators[name] + value
                else:
                    made[name] = value
        return made


def read_techniques(document: Mapping[str, Any], file: Path) -> TechniquesFacts:
    """The facts of one `techniques.toml`; its files of SQL are there.

    Raises:
        EngineError: If the file has an error. The message has file, key and remedy.
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
    """The text of an operation that has settings of its own: several statements.

    Args:
        facts: Facts of an engine that has `forcing`.
        folder: Where its files are.
        sql: The operation, without a semicolon at its end.
        settings: What it has beside all others.
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
    """Names of all settings of techniques of plans, and of orders: what may be left over."""
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
        raise EngineError(f"{path}: {named} stands for nothing; known: $name, $value, $$ for a $")
