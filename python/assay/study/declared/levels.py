"""Combines the factors of a study and their levels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from assay.model.errors import suggestion
from assay.running.asked.declaring import value_text
from assay.running.asked.options import option_names
from assay.study.declared.facts import SETTING, Level, PartFacts, QuickPart, run_keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Value = Level | str | bool | int | float
    Problem = tuple[tuple[str | int, ...], str]

# Keys that are tables, whose entries from several places are merged. A factor may be one entry of
# such a table, such as `set.work_mem` or `limit.cpu`.
TABLES = ("set", "limit", "slow")
# Value that stands for one level per technique of an engine, plus one with all techniques on.
WITHOUT, EACH = "without", "each"
ALL_ON = "all on"
# Keys whose values are clear without the key's name.
SPEAK_FOR_THEMSELVES = ("engine", "workload", "state", "test")


@dataclass(frozen=True)
class NamedLevel:
    """A named level of a study's factor, such as one number of clients.

    Attributes:
        name: Name of the level in the file.
        keys: Keys of a run that the level sets.
        label: Text in combination with levels of other factors; None means the name.
    """

    name: str
    keys: Mapping[str, Any]
    label: str | None = None


@dataclass(frozen=True)
class Combination:
    """A combination of one level of each study factor.

    Attributes:
        levels: Name of the level by name of the factor.
        keys: Keys that the levels set together.
        name: Name of the combination of levels; empty without factors.
    """

    name: str
    levels: Mapping[str, str]
    keys: Mapping[str, Any]

    def beside(self, factor: str, level: NamedLevel) -> Combination:
        """Return the combination with a level of one more factor."""
        name = ", ".join(filter(None, (self.name, level.label or level.name)))
        levels = {**self.levels, factor: level.name}
        return Combination(name, levels, merged(self.keys, level.keys))


def level_of(factor: str, value: Value) -> NamedLevel:
    """Return a level from the file: a table, or a value of the option that names the factor."""
    if isinstance(value, Level):
        return NamedLevel(value.name, run_keys(value))
    name = str(value_text(value))
    table, _, inner = factor.partition(".")
    if inner and table in TABLES:
        key = inner if factor.startswith(SETTING) else f"{table} {inner}"
        return NamedLevel(name, {table: {inner: name}}, f"{key}={name}")
    label = None if factor in SPEAK_FOR_THEMSELVES else f"{factor}={name}"
    return NamedLevel(name, {factor: value}, label)


def merged(*tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return option keys merged from several tables; later ones override earlier ones."""
    keys: dict[str, Any] = {}
    for table in tables:
        added = {key: {**keys.get(key, {}), **table.get(key, {})} for key in TABLES}
        keys |= table
        keys |= {key: entries for key, entries in added.items() if entries}
    return keys


def combinations(factors: Mapping[str, Sequence[NamedLevel]]) -> Iterator[Combination]:
    """Return all combinations, the last factor changing fastest; an empty one without factors."""
    for chosen in product(*factors.values()):
        names = {factor: level.name for factor, level in zip(factors, chosen, strict=True)}
        name = ", ".join(level.label or level.name for level in chosen)
        yield Combination(name, names, merged(*(level.keys for level in chosen)))


def has_each(levels: Sequence[NamedLevel]) -> bool:
    """Return True if a study's factor stands for all techniques of an engine."""
    return [level.name for level in levels] == [EACH]


def each_technique(names: Iterable[str]) -> list[NamedLevel]:
    """Return a level with all techniques on, then one level per technique that is off."""
    off = [NamedLevel(name, {WITHOUT: [name]}, f"without {name}") for name in names]
    return [NamedLevel(ALL_ON, {}), *off]


def is_excluded(
    levels: Mapping[str, str], keys: Mapping[str, Any], rules: Sequence[Mapping[str, str]]
) -> bool:
    """Return True if a combination of levels matches a rule that excludes it."""
    values = {
        **{key: str(value_text(value)) for key, value in keys.items()},
        **{f"{key}.{name}": value for key in TABLES for name, value in keys.get(key, {}).items()},
        **levels,
    }
    return any(all(values.get(key) == value for key, value in rule.items()) for rule in rules)


def factor_problems(part: PartFacts) -> list[Problem]:
    """Return the problems of a study section's factors: position and text."""
    problems = list(_own(part.factor)) or [*_clashes(part), *_exclusions(part)]
    if isinstance(part.quick, QuickPart):
        quick = [*_own(part.quick.factor), *_strange(part, part.quick)]
        problems += [(("quick", *where), text) for where, text in quick]
    return problems


def _own(factors: Mapping[str, Sequence[Value]]) -> Iterator[Problem]:
    """Yield the problems of each study factor by itself."""
    keys = option_names()
    for factor, values in factors.items():
        is_key = factor in keys or _is_inner(factor)
        plain = [value for value in values if not isinstance(value, Level)]
        if plain and (not is_key or factor in TABLES):
            yield ("factor", factor), _no_key(factor, plain[0], keys)
        names = [level_of(factor, value).name for value in values]
        if factor == WITHOUT and EACH in names and len(names) > 1:
            yield ("factor", factor), f"{EACH!r} stands for all techniques: leave the others out"
        if twice := sorted({name for name in names if names.count(name) > 1}):
            yield ("factor", factor), f"two levels are named {twice[0]!r}"


def _is_inner(factor: str) -> bool:
    """Return True if a factor varies one entry of a table, such as a single setting."""
    return factor.startswith(tuple(f"{table}." for table in TABLES))


def _no_key(factor: str, value: object, keys: Sequence[str]) -> str:
    if factor in TABLES:
        return f'levels of {factor} are tables: {{ name = "...", {factor} = {{ NAME = "VALUE" }} }}'
    hint = suggestion(factor, [*keys, f"{SETTING}NAME"])
    return (
        f"{factor!r} is no key of a run, so {value!r} says nothing; {hint} Levels of a factor with"
        ' a name of its own are tables: { name = "...", KEY = ... }'
    )


def _clashes(part: PartFacts) -> Iterator[Problem]:
    """Yield keys that both the study section and a factor set."""
    setting: dict[str, str] = dict.fromkeys(_flat(run_keys(part)), "the part")
    for factor, values in part.factor.items():
        levels = [level_of(factor, value) for value in values]
        for key in sorted({key for level in levels for key in _flat(level.keys)}):
            if key in setting:
                yield ("factor", factor), f"{key} is set by {setting[key]}, too: leave one out"
            setting[key] = f"factor {factor}"


def _flat(keys: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of all keys, with each engine setting separately."""
    for key, value in keys.items():
        yield from (f"{key}.{name}" for name in value) if key in TABLES else (key,)


def _exclusions(part: PartFacts) -> Iterator[Problem]:
    """Yield problems with exclusion rules that match no combination."""
    levels = {
        factor: [level_of(factor, value).name for value in values]
        for factor, values in part.factor.items()
    }
    for number, rule in enumerate(part.exclude):
        for key, value in rule.items():
            if key in levels and EACH not in levels[key] and value not in levels[key]:
                hint = suggestion(value, levels[key])
                yield ("exclude", number), f"{value!r} is no level of factor {key}; {hint}"
            elif key not in levels and key not in option_names() and not _is_inner(key):
                hint = suggestion(key, [*levels, *option_names()])
                yield ("exclude", number), f"{key!r} is neither a factor nor a key; {hint}"
        if not rule:
            yield ("exclude", number), "it says nothing: name a level by its factor"


def _strange(part: PartFacts, quick: QuickPart) -> Iterator[Problem]:
    """Yield problems with factors that only the `--quick` form would have."""
    for factor in quick.factor:
        if factor not in part.factor:
            hint = suggestion(factor, list(part.factor)) if part.factor else "the part has none"
            yield ("factor", factor), f"the part has no factor {factor!r}; {hint}"
