"""Finds optimiser settings that differ from their default and lead to slower plans.

The evidence is measured: the statement was executed again with the default value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.plans.setting_trials import settings_tried, tried_finding

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "planner-setting"
DOES = "makes the optimiser choose slower plans"


def find(case: Case) -> list[Finding]:
    """Return a finding for each optimiser setting whose default leads to faster plans."""
    # Another finding covers settings that have a role.
    roles = {facts.get("name") for facts in case.advice.get("settings", {}).values()}
    return [
        finding
        for name, better in settings_tried(case, differs=True).items()
        if name not in roles
        for finding in tried_finding(case, METHOD, name, better, DOES)
    ]
