"""The runs that a study would make: what `assay studies show --json` prints."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict


class PlannedVariant(TypedDict):
    """Runs of one kind."""

    name: str
    levels: dict[str, str]
    """Level by name of its factor."""
    expected_s: float | None
    """Null: nothing is known of runs like it."""


class PlannedPart(TypedDict):
    """A block of the study."""

    name: str
    about: str | None
    repetitions: int
    variants: list[PlannedVariant]


class PlannedTurn(TypedDict):
    """One run, in its place."""

    round: int
    part: str
    variant: str
    stands_for: int
    """How many parts it is a run of."""


class StudyForm(TypedDict):
    """The whole study, or its short form."""

    budget_s: float | None
    expected_s: float | None
    """Of all runs; null: nothing is known of one."""
    without: dict[str, str]
    """Parts that are left out, with the reason of each."""
    parts: list[PlannedPart]
    order: list[PlannedTurn]


class StudyPlan(TypedDict):
    """The question of a study, and the runs that would answer it."""

    name: str
    title: str
    question: str
    file: str
    published: str | None
    """File of the figures that others published."""
    figures: list[dict[str, Any]]
    """As the study's file has them."""
    forms: dict[str, StudyForm]
    """By name: `whole` and `quick`."""
