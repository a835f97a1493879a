"""Several runs that answer one question: what is asked, and in which order. Pure: touches nothing.

A study is a request, variants that change it, and how often each is run. Runs of a round stand side
by side, and every second round goes backwards, so what drifts meanwhile weighs on all alike.
"""

from __future__ import annotations

import random
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from assay.model.errors import UsageError, suggestion
from assay.study.request import RunRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCHEMA = 1
REPETITIONS_MAX = 1000


@dataclass(frozen=True)
class Variant:
    """One level of what is compared.

    Attributes:
        name: As people read it.
        changes: Fields of the request that differ; of those that are tables, the entries.
    """

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)

    def of(self, base: RunRequest) -> RunRequest:
        """The request of this variant."""
        changed: dict[str, Any] = {
            key: {**getattr(base, key), **value} if isinstance(value, dict) else value
            for key, value in self.changes.items()
        }
        return replace(base, **changed)


@dataclass(frozen=True)
class Planned:
    """One run that is to be: the round is counted from 1."""

    round: int
    variant: str


@dataclass(frozen=True)
class Study:
    """Several runs as asked for.

    Attributes:
        question: What they answer, in a sentence.
        base: The request that variants change.
        variants: At least one; names differ.
        repetitions: Runs of each variant.
        seed: Of the order.
    """

    question: str
    base: RunRequest
    variants: tuple[Variant, ...]
    repetitions: int
    seed: int = 1

    def request(self, variant: str) -> RunRequest:
        """What a variant's runs are asked for."""
        return next(one for one in self.variants if one.name == variant).of(self.base)

    def order(self) -> list[Planned]:
        """All runs, in the order in which they are carried out."""
        return interleaved([variant.name for variant in self.variants], self.repetitions, self.seed)

    def facts(self) -> dict[str, Any]:
        """As it stands in `study.toml`, without secrets."""
        return {
            "schema": SCHEMA,
            "question": self.question,
            "repetitions": self.repetitions,
            "seed": self.seed,
            "base": _told(self.base),
            "variants": [
                {"name": variant.name, "changes": _hidden(variant, self.base) or None}
                for variant in self.variants
            ],
        }


def interleaved(names: Sequence[str], repetitions: int, seed: int) -> list[Planned]:
    """A balanced order: a round has each name once, every second one is the one before backwards.

    Of two names it is ABBA or BAAB, over and over; which, the seed says.
    """
    drawn = random.Random(seed)  # noqa: S311 - an order, not a secret
    planned: list[Planned] = []
    order: list[str] = []
    for number in range(1, repetitions + 1):
        if number % 2:
            lots = {name: drawn.random() for name in names}
            order = sorted(names, key=lots.__getitem__)
        else:
            order = order[::-1]
        planned += [Planned(number, name) for name in order]
    return planned


def difference(base: RunRequest, other: RunRequest) -> dict[str, Any]:
    """The changes of a variant that makes `other` of `base`; nothing of `base` may be missing."""
    changes: dict[str, Any] = {}
    for one in fields(RunRequest):
        before, after = getattr(base, one.name), getattr(other, one.name)
        if isinstance(after, dict):
            after = {key: value for key, value in after.items() if before.get(key) != value}
            if after:
                changes[one.name] = after
        elif before != after:
            changes[one.name] = after
    return changes


def read_study(document: Mapping[str, Any], where: str) -> Study:
    """The study that a `study.toml` asks for; what it tells of its runs is left to others.

    Raises:
        UsageError: With file, key and mend.
    """
    known = ["schema", "question", "repetitions", "seed", "base", "variants", "status", "reason"]
    _check_keys(document, [*known, "runs", "about"], where)
    if document.get("schema") != SCHEMA:
        raise UsageError(
            f"{where}: schema is {document.get('schema')!r}; this Assay reads {SCHEMA}"
        )
    repetitions, seed = document.get("repetitions", 1), document.get("seed", 1)
    if not isinstance(repetitions, int) or not 1 <= repetitions <= REPETITIONS_MAX:
        raise UsageError(f"{where}: repetitions is a whole number of 1 to {REPETITIONS_MAX}")
    if not isinstance(seed, int):
        raise UsageError(f"{where}: seed is a whole number")
    base = _request(document.get("base"), f"{where}: base")
    variants = _variants(document.get("variants"), base, where)
    return Study(str(document.get("question", "")), base, variants, repetitions, seed)


def _variants(told: object, base: RunRequest, where: str) -> tuple[Variant, ...]:
    if not isinstance(told, list) or not told or not all(isinstance(one, dict) for one in told):
        raise UsageError(f"{where}: it has no variants; write [[variants]] with a name each")
    variants: list[Variant] = []
    for one in told:
        _check_keys(one, ["name", "changes"], f"{where}: variants")
        name, changes = one.get("name"), one.get("changes", {})
        if not isinstance(name, str) or not name or not isinstance(changes, dict):
            raise UsageError(f"{where}: a variant has a name, and a table of changes or none")
        if name in [variant.name for variant in variants]:
            raise UsageError(f"{where}: two variants are named {name!r}; give each its own name")
        _check_keys(changes, _fields(), f"{where}: changes of {name!r}")
        variant = Variant(name, changes)
        _request(vars(variant.of(base)), f"{where}: changes of {name!r}")
        variants.append(variant)
    return tuple(variants)


def _request(told: object, where: str) -> RunRequest:
    """A request that is complete and whose values are of the right sort."""
    from pydantic import TypeAdapter, ValidationError

    if not isinstance(told, dict):
        raise UsageError(f"{where} is missing: write [base] with workload, engine and scale")
    _check_keys(told, _fields(), where)
    try:
        made: RunRequest = TypeAdapter(RunRequest).validate_python(told)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{where}: {key}: {first['msg']}") from error
    return made


def _fields() -> list[str]:
    return [one.name for one in fields(RunRequest)]


def _check_keys(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where}: unknown key {key!r}; {suggestion(key, list(known))}")


def _told(request: RunRequest) -> dict[str, Any]:
    """What of a request is not as it would be without a word."""
    facts = request.facts()
    told = {}
    for one in fields(RunRequest):
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        if facts[one.name] != default:
            told[one.name] = facts[one.name]
    return told


def _hidden(variant: Variant, base: RunRequest) -> dict[str, Any]:
    """The changes without secrets."""
    facts = variant.of(base).facts()
    return {
        key: {name: facts[key][name] for name in value} if isinstance(value, dict) else facts[key]
        for key, value in variant.changes.items()
    }
