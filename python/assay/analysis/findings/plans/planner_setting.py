"""Settings of the optimiser away from their default that make it choose slower plans.

Nothing is inferred: the statement was executed once more with the setting back at its default.
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
    """Return one finding a setting whose default brings faster plans."""
    # A setting with a role is another finding's, which knows what the role is for.
    roles = {facts.get("name") for facts in case.advice.get("settings", {}).values()}
    return [
        finding
        for name, better in settings_tried(case, differs=True).items()
        if name not in roles
        for finding in tried_finding(case, METHOD, name, better, DOES)
    ]
