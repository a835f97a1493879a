"""The runs that a study would make, as `assay studies show --json` prints them."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict


class PlannedVariant(TypedDict):
    """Runs of one kind."""

    name: str
    levels: dict[str, str]
    """Level by name of its factor."""
    expected_s: float | None
    """Expected seconds of a run; null without similar earlier runs."""


class PlannedPart(TypedDict):
    """A block of the study."""

    name: str
    about: str | None
    repetitions: int
    variants: list[PlannedVariant]


class PlannedTurn(TypedDict):
    """One run in the order of the study."""

    round: int
    part: str
    variant: str
    stands_for: int
    """Number of parts that share this run."""


class StudyForm(TypedDict):
    """The whole study, or its short form."""

    budget_s: float | None
    expected_s: float | None
    """Expected seconds of all runs; null if a run's time is not known."""
    without: dict[str, str]
    """Parts that are left out, with the reason for each."""
    parts: list[PlannedPart]
    order: list[PlannedTurn]


class StudyPlan(TypedDict):
    """The question of a study, and the runs that would answer it."""

    name: str
    title: str
    question: str
    file: str
    published: str | None
    """File with the figures of a published article."""
    figures: list[dict[str, Any]]
    """Figures as in the study's file."""
    forms: dict[str, StudyForm]
    """Forms of the study by name: `whole` and `quick`."""
