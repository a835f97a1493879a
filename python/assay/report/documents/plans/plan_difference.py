"""Plans of two runs compared: what `assay explain --against --json` prints of them."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue

StepMark = Literal["same", "changed", "new", "gone"]


class PlanChangeRow(TypedDict):
    """One change of a plan."""

    kind: str
    says: str
    ours_s: MeasuredValue
    """Thread-seconds that it is about in this run."""
    theirs_s: MeasuredValue


class PlanStepRow(TypedDict):
    """One step of a plan, and its time with all below in both runs."""

    depth: int
    mark: StepMark
    operator: str
    words: str
    ours_s: MeasuredValue
    theirs_s: MeasuredValue


class PlanDifferenceRow(TypedDict):
    """One statement that has a plan in both runs."""

    operation: str
    statement: int
    name: str | None
    changed: bool
    """Whether it is executed in another way."""
    ours_s: MeasuredValue
    """Time of its operation in the measured part of this run."""
    theirs_s: MeasuredValue
    changes: list[PlanChangeRow]
    steps: list[PlanStepRow]
    """Steps of this run as they stand in its plan, then those that are gone."""
