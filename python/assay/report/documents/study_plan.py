"""Types of `assay studies show --json`: the runs that a study would make."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict


class PlannedVariant(TypedDict):
    """Planned runs of a study with the same factor levels."""

    name: str
    levels: dict[str, str]
    """Level of each factor, by the factor's name."""
    expected_s: float | None
    """Expected seconds of a run; null if there are no similar earlier runs."""


class PlannedPart(TypedDict):
    """A section of a planned study, whose variants are run in turns."""

    name: str
    about: str | None
    repetitions: int
    variants: list[PlannedVariant]


class PlannedTurn(TypedDict):
    """One planned run, in the order of the study."""

    round: int
    part: str
    variant: str
    stands_for: int
    """Number of study parts that share this run."""


class StudyForm(TypedDict):
    """The planned runs of a whole study, or of its short form."""

    budget_s: float | None
    expected_s: float | None
    """Expected seconds of all runs; null if the duration of any run is not known."""
    without: dict[str, str]
    """Parts that this form of the study leaves out, with the reason for each."""
    parts: list[PlannedPart]
    order: list[PlannedTurn]


class StudyPlan(TypedDict):
    """The question of a study, and the runs that would answer it."""

    name: str
    title: str
    question: str
    file: str
    published: str | None
    """Name of the file with the values of a published article; null without an article."""
    figures: list[dict[str, Any]]
    """Figures of the study, as its file defines them."""
    forms: dict[str, StudyForm]
    """Forms of the study by name: `whole` and `quick`."""
