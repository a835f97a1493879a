"""Finds time that a cluster's tasks waited for other nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.cluster.words import BLOCKED, WAIT
from assay.analysis.findings.knob_advice import sweep_words
from assay.analysis.findings.operation_shares import at_least, names_text
from assay.model.finding import Evidence
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.cluster.line import NodeFigures
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "node-waits"
# Tasks that exchange any data have smaller waits.
EFFECT_MIN = 0.05
NAMED_SHARE = 0.02
NAMED_OPERATIONS = 3
TO_TRY = (
    "do more work between two exchanges: use larger batches, or partition tables by the join key"
)


def find(case: Case) -> list[Finding]:
    """Return a finding of the share of task time spent waiting for other cluster nodes."""
    cluster = case.cluster
    if cluster is None or (cluster.run is None and not cluster.operations):
        return []
    figures = {name: line.whole for name, line in cluster.operations.items()}
    shares = {
        name: share
        for name, whole in figures.items()
        if (share := whole.share_of_tasks(WAIT, BLOCKED)) is not None
    }
    of_run = cluster.run.whole.share_of_tasks(WAIT, BLOCKED) if cluster.run else None
    # Operations without counter readings are assumed to have the same share as the whole run.
    others = {} if of_run is None else dict.fromkeys(case.shares, of_run)
    fractions = at_least(others | shares, NAMED_SHARE)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    names = case.largest_first(at_least(shares or fractions, NAMED_SHARE) or fractions)
    whole = cluster.run.whole if cluster.run and len(case.shares) > 1 else figures.get(names[0])
    whole = whole or (cluster.run.whole if cluster.run else None)
    claim = (
        f"Tasks waited for other nodes for {percent_text(effect)} of the time, most in"
        f" {names_text(names)}{_parts(whole)}"
    )
    evidence = [
        Evidence(f"{name}: {percent_text(fractions[name])} of the time of its tasks", "cluster")
        for name in names[:NAMED_OPERATIONS]
    ]
    only = names[0] if cluster.operations else None
    to_try = sweep_words(case, "blocking", (WAIT, BLOCKED), only) or TO_TRY
    return [case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)]


def _parts(whole: NodeFigures | None) -> str:
    """Return text on the split of node waits into receiving and sending, if both are counted."""
    if whole is None:
        return ""
    wait, blocked = whole.share_of_tasks(WAIT), whole.share_of_tasks(BLOCKED)
    if wait is None or blocked is None:
        return ""
    return (
        f": {percent_text(wait)} waiting for data from other nodes, {percent_text(blocked)} "
        "until other nodes take data"
    )
