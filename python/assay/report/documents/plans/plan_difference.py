"""Types of `assay explain --against --json`: differences between two runs' plans."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue

StepMark = Literal["same", "changed", "new", "gone"]


class PlanChangeRow(TypedDict):
    """One change between two plans of the same statement."""

    kind: str
    says: str
    ours_s: MeasuredValue
    """Thread-seconds of the changed step in this run."""
    theirs_s: MeasuredValue


class PlanStepRow(TypedDict):
    """One step of a query plan with its time in two compared runs."""

    depth: int
    mark: StepMark
    operator: str
    words: str
    ours_s: MeasuredValue
    theirs_s: MeasuredValue


class PlanDifferenceRow(TypedDict):
    """The plan differences of one statement between two runs."""

    operation: str
    statement: int
    name: str | None
    changed: bool
    """Whether the statement's plan differs between the runs."""
    ours_s: MeasuredValue
    """Time of the statement's operation in the measured part of this run."""
    theirs_s: MeasuredValue
    changes: list[PlanChangeRow]
    steps: list[PlanStepRow]
    """Steps of this run's plan in their order, then steps that only the other run's plan has."""
