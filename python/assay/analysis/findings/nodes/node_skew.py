"""Finds a cluster node with more work than the others, which were idle meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.cluster.skew import CPU_TIME
from assay.analysis.findings.operation_shares import names_text
from assay.model.finding import Evidence
from assay.model.units import percent_text

if TYPE_CHECKING:
    from assay.analysis.cluster.line import Line
    from assay.analysis.cluster.skew import Skew
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "node-skew"
EFFECT_MIN = 0.05
NAMED_OPERATIONS = 3
# The node with most work is named if it is the same in this share of executions.
SAME_MIN = 0.75
TO_TRY = (
    "distribute the data by another key, or in more and smaller partitions than there are nodes"
)


def find(case: Case) -> list[Finding]:
    """Return a finding of the time saved if all cluster nodes had the same CPU time."""
    cluster = case.cluster
    if cluster is None:
        return []
    uneven: dict[str, Skew] = {}
    fractions: dict[str, float] = {}
    for name, line in cluster.operations.items():
        cpu = next((skew for skew in cluster.skew(name) if skew.measure == CPU_TIME), None)
        if cpu is not None and cpu.is_skewed:
            uneven[name] = cpu
            fractions[name] = cpu.idle_share * _busy(cpu, line)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    names = case.largest_first(fractions)
    first = uneven[names[0]]
    claim = (
        f"{_node_text(first)} used {first.ratio:.3g} times the mean CPU time of the nodes in "
        f"{names_text(names)}; an even distribution would save {percent_text(effect)} of the "
        "time at best"
    )
    evidence = [
        Evidence(f"{name}: {text}", "cluster")
        for name in names[:NAMED_OPERATIONS]
        for text in _skew_texts(cluster.skew(name))
    ]
    return [case.finding(METHOD, claim, fractions, to_try=TO_TRY, evidence=evidence)]


def _node_text(skew: Skew) -> str:
    """Return the name of the cluster node with the most CPU time, if it is mostly the same."""
    return f"Node {skew.node}" if skew.often >= SAME_MIN else "A different node each time"


def _busy(cpu: Skew, line: Line) -> float:
    """Return the share of an operation's time in which the busiest cluster node worked."""
    return min(1.0, cpu.largest / line.seconds) if line.seconds > 0 else 0.0


def _skew_texts(skews: tuple[Skew, ...]) -> list[str]:
    return [
        f"{skew.measure} on {skew.node} was {skew.ratio:.3g} times the mean"
        for skew in skews
        if skew.is_skewed
    ]
