"""Types for several runs that answer one question, and their order.

This module has no side effects.

A study has parts. A part has variants, each of which is a request, and a number of repetitions.
Runs of a part's round follow one another, and every second round is in reverse order, so drift
affects all variants equally. Equal requests of different parts share one run per round.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.record.layout import KIND_RUN
from assay.record.studies import SCHEMA, StudyFigure

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from assay.running.asked.request import RunRequest
    from assay.study.ceiling.trials import CeilingRequest

    # Request of one run of a study: a workload on an engine, or a ceiling of the host.
    StudyRequest = RunRequest | CeilingRequest


@dataclass(frozen=True)
class Variant:
    """One of the alternatives that a study compares.

    Attributes:
        name: Name for readers.
        levels: Name of the level by name of the factor.
    """

    name: str
    request: StudyRequest
    levels: Mapping[str, str] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        """Return the variant in the form of `study.toml`, without secrets."""
        return {"name": self.name, "levels": dict(self.levels), "request": self.request.said()}


@dataclass(frozen=True)
class Part:
    """A section of a study: variants that run in alternation.

    Attributes:
        variants: At least one variant; names differ.
        repetitions: Number of runs of each variant.
        about: Sentence on its purpose.
        expects: Operators that the plans of its runs must have; empty means any plan is accepted.
        kind: `run` for runs of a workload, or `ceiling` for measurements of the host's limits
            without an engine.
        apart: Whether the part shares no runs with others, and runs after the parts before it. This
            is needed if later parts follow from earlier ones.
    """

    name: str
    variants: tuple[Variant, ...]
    repetitions: int
    about: str | None = None
    expects: tuple[str, ...] = ()
    kind: str = KIND_RUN
    apart: bool = False

    def facts(self) -> dict[str, Any]:
        """Return the study section in the form of `study.toml`, without secrets."""
        return {
            "name": self.name,
            "about": self.about,
            "kind": None if self.kind == KIND_RUN else self.kind,
            "expects": {"plan": list(self.expects)} if self.expects else None,
            "repetitions": self.repetitions,
            "variants": [variant.facts() for variant in self.variants],
        }


class Turn(NamedTuple):
    """The run of one variant in one round."""

    round: int
    variant: str


class Planned(NamedTuple):
    """One planned run of a study, identified by section, variant and round."""

    part: str
    variant: str
    round: int


@dataclass(frozen=True)
class PlannedRun:
    """A run that a study plans, and the engine variants that share it."""

    request: StudyRequest
    stands_for: tuple[Planned, ...]


@dataclass(frozen=True)
class Study:
    """A study: the question and all runs that answer it.

    Attributes:
        question: Question that the runs answer, in sentences.
        parts: At least one part; names differ.
        seed: Seed of the order of runs.
        figures: Figures made from the runs.
        without: Parts of its file that are omitted, with the reason for each.
    """

    question: str
    parts: tuple[Part, ...]
    seed: int = 1
    title: str | None = None
    figures: tuple[StudyFigure, ...] = ()
    without: Mapping[str, str] = field(default_factory=dict)

    def order(self) -> list[PlannedRun]:
        """Return all runs of the study in execution order.

        The first round of every part comes before any second round, so that an early end omits
        repetitions first. Parts with `apart` follow one after another, each complete.
        """
        planned = sorted(
            (
                (number if part.apart else -1, turn.round, number, at, part, turn.variant)
                for number, part in enumerate(self.parts)
                for at, turn in enumerate(
                    interleaved(
                        [variant.name for variant in part.variants],
                        part.repetitions,
                        self.seed + number,
                    )
                )
            ),
            key=lambda row: row[:4],
        )
        runs: list[PlannedRun] = []
        apart = {part.name for part in self.parts if part.apart}
        for _, round_, _, _, part, name in planned:
            request = next(variant.request for variant in part.variants if variant.name == name)
            _add(runs, request, Planned(part.name, name, round_), apart)
        return runs

    def facts(self) -> dict[str, Any]:
        """Return the study in the form of `study.toml`, without secrets."""
        return {
            "schema": SCHEMA,
            "title": self.title,
            "question": self.question,
            "seed": self.seed,
            "parts": [part.facts() for part in self.parts],
            "figures": [_figure(figure) for figure in self.figures] or None,
            "without": dict(self.without) or None,
        }


def _add(
    runs: list[PlannedRun], request: StudyRequest, planned: Planned, apart: Collection[str]
) -> None:
    """Add a run to the list of planned runs, unless a planned run has an equal request.

    Variants of one part are compared, so equal requests within it are separate runs, as are those
    of parts with `apart`.
    """
    for at, run in enumerate(runs):
        if planned.part in apart:
            break
        is_own = any(
            earlier.part == planned.part or earlier.part in apart for earlier in run.stands_for
        )
        if run.stands_for[0].round == planned.round and run.request == request and not is_own:
            runs[at] = PlannedRun(request, (*run.stands_for, planned))
            return
    runs.append(PlannedRun(request, (planned,)))


def interleaved(names: Sequence[str], repetitions: int, seed: int) -> list[Turn]:
    """Return a balanced order: each round has every name once, every second round reversed.

    For two names the order repeats ABBA or BAAB; the seed decides which.
    """
    drawn = random.Random(seed)  # noqa: S311 - an order, not a secret
    planned: list[Turn] = []
    order: list[str] = []
    for number in range(1, repetitions + 1):
        if number % 2:
            lots = {name: drawn.random() for name in names}
            order = sorted(names, key=lots.__getitem__)
        else:
            order = order[::-1]
        planned += [Turn(number, name) for name in order]
    return planned


def _figure(figure: StudyFigure) -> dict[str, Any]:
    return {
        "name": figure.name,
        "parts": list(figure.parts),
        "kind": figure.kind,
        "title": figure.title,
        "options": dict(figure.options),
    }
