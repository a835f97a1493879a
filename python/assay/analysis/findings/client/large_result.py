"""Finds results so large that sending them takes much of the engine's time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.memory.cache import MISSED_BYTES, copying_share
from assay.analysis.findings.operation_shares import at_least, execution_text
from assay.model.finding import Evidence
from assay.model.units import bytes_text, count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "large-result"
# Names of counters that the engine declares.
SENT = "sent_bytes"
LOGGED, SPILLED = "wal_bytes", "temporary_bytes"
# A smaller result fits into a few packets.
BYTES_MIN = 256 << 10
# Other copies by the kernel may be at most this share of the sent bytes.
OTHER_SHARE_MAX = 0.25
EFFECT_MIN = 0.05
NAMED_SHARE = 0.05


def find(case: Case) -> list[Finding]:
    """Return a finding of the kernel time of operations that send large results."""
    sent = case.total(SENT)
    executions = sum(op.passes for op in case.operations)
    if not sent or not executions or sent / executions < BYTES_MIN:
        return []
    others = sum(case.total(name) or 0.0 for name in (MISSED_BYTES, LOGGED, SPILLED))
    if others > OTHER_SHARE_MAX * sent:
        return []
    most = copying_share(case, sent)
    fractions = at_least(
        {name: min(own, most) for name, own in case.part("cpu_system").items()}, NAMED_SHARE
    )
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    name = case.largest_first(fractions)[0]
    rows = {op.name: op.rows or 0 for op in case.operations}
    claim = (
        f"Results are large: {bytes_text(sent / executions)} per "
        f"{execution_text(case, case.shares)}, most in {name} with "
        f"{count_text(rows[name])} rows; sending results took {percent_text(effect)} of the time"
    )
    evidence = [
        Evidence(f"the engine sent {bytes_text(sent)} to clients", f"counter:{SENT}"),
        Evidence(
            f"{name}: the engine spent {percent_text(fractions[name])} of its time in the kernel",
            f"where:{name}",
        ),
    ]
    to_try = "fetch fewer rows or columns"
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    return [
        finding.of("computing", saved=(0.0, min(1.0, effect + case.of_run(case.part("client")))))
    ]
