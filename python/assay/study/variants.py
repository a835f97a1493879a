"""Several runs that answer one question: what is asked, and in which order. Pure: touches nothing.

A study is a request, variants that change it, and how often each is run. Runs of a round stand side
by side, and every second round goes backwards, so what drifts meanwhile weighs on all alike.
"""

from __future__ import annotations

import random
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from assay.study.request import RunRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCHEMA = 1


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
