"""Finds sessions of other clients that used CPU time on the same server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import at_least, names_text
from assay.model.finding import Evidence
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "other-sessions"
# Assay's own sampling of the server uses less CPU time.
OTHERS_SHARE_MIN = 0.1
EFFECT_MIN = 0.05
NAMED_SHARE = 0.02
PART = "computing/queue"


def find(case: Case) -> list[Finding]:
    """Return a finding of the CPU waits that other clients' sessions can have caused."""
    others = case.other_clients
    cores = case.engine_cores
    if not others or not cores or case.accounts is None or not case.accounts.window_s:
        return []
    used = sum(others.values()) / (case.accounts.window_s * cores)
    if used < OTHERS_SHARE_MIN:
        return []
    queued = at_least(case.node(PART), NAMED_SHARE)
    effect = case.of_run(queued)
    if effect < EFFECT_MIN:
        return []
    titles = sorted(others, key=lambda title: -others[title])
    claim = (
        f"Other sessions of the server used {percent_text(used)} of its CPUs while the run waited"
        f" for a CPU {percent_text(effect)} of the time: {names_text(titles)}"
    )
    evidence = [
        *(
            Evidence(
                f"{title}: {percent_text(others[title] / case.accounts.window_s)} of a core",
                f"session:{title}",
            )
            for title in titles[:3]
        ),
        *(
            Evidence(
                f"{name}: {percent_text(share)} of its time waiting for a CPU", f"where:{name}"
            )
            for name, share in queued.items()
        ),
    ]
    to_try = f"run {titles[0]} at another time, or limit its CPU use"
    finding = case.finding(METHOD, claim, queued, to_try=to_try, evidence=evidence)
    return [finding.of(PART, saved=(0.0, min(1.0, effect + used)))]
