"""Types of `assay explain --operation --json`: one operation of a run."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.findings import FindingRow
from assay.report.documents.load.operations import OperationRow
from assay.report.documents.plans.plans import PlanCaptureSection, StatementPlan


class OperationFinding(FindingRow):
    """A finding about an operation, and how much of its time it explains."""

    fraction: float | None
    """Share of the operation's own time that the finding explains; null if not known, or if the
    finding concerns all of it."""


class OperationDocument(TypedDict):
    """An operation of a run with the findings about it and its plans."""

    operation: OperationRow
    findings: list[OperationFinding]
    plans: list[StatementPlan]
    plan_capture: PlanCaptureSection
