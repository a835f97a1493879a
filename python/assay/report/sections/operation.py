"""Makes the document on one operation: its times, findings and plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.finding import TELLS

if TYPE_CHECKING:
    from assay.report.documents.load.operation import OperationDocument, OperationFinding
    from assay.report.documents.plans.plans import PlanCaptureSection
    from assay.report.documents.run import RunDocument

# A finding that concerns all of an operation's time explains nothing about it.
ALL_OF_IT = 0.9995


def operation_of(document: RunDocument, name: str) -> OperationDocument:
    """Return an operation with the findings about it and its plans, as plain values.

    Args:
        document: The document of a run.
        name: Name of an operation of the run.
    """
    return {
        "operation": next(
            operation for operation in document["operations"] if operation["name"] == name
        ),
        "findings": _findings(document, name),
        "plans": document["plans"].get(name, []),
        "plan_capture": _operation_capture(document["plan_capture"], name),
    }


def _findings(document: RunDocument, name: str) -> list[OperationFinding]:
    """Return the findings about an operation, each with the share of its time it explains.

    Findings are sorted by kind of claim, then by fraction, largest first. The fraction is null if
    the finding does not state it, or if the finding concerns all of the operation's time.
    """
    findings: list[OperationFinding] = []
    for finding in document["findings"]:
        if name in finding["operations"]:
            own = (finding.get("fractions") or {}).get(name)
            is_all = own is not None and finding["tells"] != "cause" and own >= ALL_OF_IT
            findings.append({**finding, "fraction": None if is_all else own})
    return sorted(
        findings, key=lambda finding: (TELLS.index(finding["tells"]), -(finding["fraction"] or 0.0))
    )


def _operation_capture(capture: PlanCaptureSection, name: str) -> PlanCaptureSection:
    """Return the time of capturing an operation's plans, and its statements without one."""
    return {
        **capture,
        "operations": [cost for cost in capture["operations"] if cost["operation"] == name],
        "missing": [plan for plan in capture["missing"] if plan["operation"] == name],
    }
