"""What a document tells of one operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.finding import TELLS

if TYPE_CHECKING:
    from assay.report.documents.operation import OperationDocument, OperationFinding
    from assay.report.documents.plans import PlanCaptureSection
    from assay.report.documents.run import RunDocument

# A finding that counts all of an operation's time explains nothing of it.
ALL_OF_IT = 0.9995


def operation_of(told: RunDocument, name: str) -> OperationDocument:
    """An operation with the findings about it and its plans, as plain values.

    Args:
        told: The document of a run.
        name: One of its operations.
    """
    return {
        "operation": next(one for one in told["operations"] if one["name"] == name),
        "findings": _findings(told, name),
        "plans": told["plans"].get(name, []),
        "plan_capture": _of_operation(told["plan_capture"], name),
    }


def _findings(told: RunDocument, name: str) -> list[OperationFinding]:
    """The findings about an operation, each with the `fraction` of its own time that it explains.

    Of those that tell the same sort of thing the largest fraction comes first; it is null where the
    finding does not say it, or is of nothing less than all of the operation's time.
    """
    found: list[OperationFinding] = []
    for finding in told["findings"]:
        if name in finding["operations"]:
            own = (finding.get("fractions") or {}).get(name)
            is_all = own is not None and finding["tells"] != "cause" and own >= ALL_OF_IT
            found.append({**finding, "fraction": None if is_all else own})
    return sorted(found, key=lambda one: (TELLS.index(one["tells"]), -(one["fraction"] or 0.0)))


def _of_operation(capture: PlanCaptureSection, name: str) -> PlanCaptureSection:
    """What asking an operation for its plans cost, and what there is none of."""
    return {
        **capture,
        "operations": [one for one in capture["operations"] if one["operation"] == name],
        "missing": [one for one in capture["missing"] if one["operation"] == name],
    }
