"""Sums up a run's time in one line: the largest causes in its time tree.

The line has no thresholds: each part is named with its share, the largest first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.cluster.words import BLOCKED, WAIT
from assay.analysis.cluster.words import CPU as CPU_TIME
from assay.analysis.findings.client.client_bound import SATURATED_SHARE, saturation
from assay.analysis.findings.client.rate_held import RATE_HELD_SHARE
from assay.analysis.findings.host.processes import cores_of, cpus_text
from assay.analysis.time.operation_tree import COMPUTING, EXECUTING, UNEXPLAINED, WAITING
from assay.model.finding import Evidence
from assay.model.units import percent_text, rate_text
from assay.record.layout import ACCOUNT_DRIVER, ENGINE_ACCOUNTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.findings.case import Case
    from assay.analysis.time.tree import TimeNode
    from assay.model.finding import Finding

METHOD = "bound-by"
# Maximum number of parts, and of operations, in the line.
NAMED_PARTS = 3
NAMED_OPERATIONS = 3
# The children of these nodes are named instead of the nodes.
OPENED = (COMPUTING, WAITING)
# A smaller part is left out of the line.
PART_SHARE_MIN = 0.02


def find(case: Case) -> list[Finding]:
    """Return a finding of the run's largest causes of time; empty if no time was split."""
    if (saturation(case) or 0.0) >= SATURATED_SHARE:
        return []
    tree = case.time
    if tree is None:
        return _cores_findings(case)
    parts = sorted(_parts(tree), key=lambda part: -part[1].share)
    named = [part for part in parts[:NAMED_PARTS] if part[1].share >= PART_SHARE_MIN]
    path, largest = named[0] if named else parts[0]
    claim = "; ".join(
        filter(
            None,
            (
                ", ".join(_parts_text(named)),
                *_node_shares_text(case, path),
                _busy(case),
                _top(case),
            ),
        )
    )
    fractions = case.node(path)
    finding = case.finding(
        METHOD, f"{_held(case)}{claim}", fractions, tells="bound", evidence=_evidence(case)
    )
    return [finding if fractions else _with_effect_of_whole(finding, largest.share)]


def _parts(tree: TimeNode) -> Iterator[tuple[str, TimeNode]]:
    """Yield the causes that the headline may name, with their paths; they add up to all time."""
    for child in tree.children:
        if child.name in OPENED and child.children:
            yield from ((f"{child.name}/{part.name}", part) for part in child.children)
        else:
            yield child.name, child


def _parts_text(parts: list[tuple[str, TimeNode]]) -> Iterator[str]:
    for number, (path, node) in enumerate(parts):
        title = node.title if number == 0 else node.title[:1].lower() + node.title[1:]
        title = title.replace("cPU", "CPU")
        is_first = " of the time" if number == 0 else ""
        kind = _largest_kind(node) if path == f"{COMPUTING}/{EXECUTING}" else ""
        yield f"{title} {percent_text(node.share)}{is_first}{kind}"


def _largest_kind(node: TimeNode) -> str:
    if not node.children:
        return ""
    kind = max(node.children, key=lambda child: child.share)
    return f" ({kind.title.lower()} {percent_text(kind.share)})"


def _busy(case: Case) -> str:
    """Return the number of busy cores out of all cores, as text; empty if not measured."""
    cores, used, engine = case.engine_cores, case.accounts, _engine_cores_used(case)
    if engine is None:
        return ""
    of_cores = f" of {cpus_text(cores)}" if cores else " CPUs"
    driver = None if used is None or case.load is None else cores_of(used, ACCOUNT_DRIVER)
    beside = "" if driver is None else f", the load generator {driver:.2g}"
    return f"the engine used {engine:.2g}{of_cores}{beside}"


def _engine_cores_used(case: Case) -> float | None:
    """Return the mean number of cores that the engine used; None if not measured.

    Several sessions of a load, or of an observed server, work at the same time, so their engine's
    CPU account counts. The operations of a power run follow one another.
    """
    if case.load is not None or case.is_observed:
        used = case.accounts
        busy = [] if used is None else [cores_of(used, name) for name in ENGINE_ACCOUNTS]
        known = [cores for cores in busy if cores is not None]
        return sum(known) if known else None
    split = [op for op in case.operations if op.parallelism is not None and op.share]
    whole = sum(op.share or 0.0 for op in split)
    return (
        sum((op.parallelism or 0.0) * (op.share or 0.0) for op in split) / whole if whole else None
    )


def _top(case: Case) -> str:
    """Return text on the operations with most of the time; empty for a load."""
    if case.load is not None:
        return ""
    top = sorted(case.shares.items(), key=lambda pair: -pair[1])[:NAMED_OPERATIONS]
    names = ", ".join(name for name, _ in top)
    verb = "is" if len(top) == 1 else "are"
    return (
        f"{names} {verb} {percent_text(sum(share for _, share in top))} of the time" if top else ""
    )


def _held(case: Case) -> str:
    """Return a sentence that an open load kept its rate; empty if it fell behind."""
    went = None if case.load is None else case.load.schedule
    if went is None or went.done_per_s < RATE_HELD_SHARE * went.rate_per_s:
        return ""
    return (
        f"The engine was not at its limit and kept up with the rate of "
        f"{rate_text(went.rate_per_s)}: "
    )


def _node_shares_text(case: Case, path: str) -> Iterator[str]:
    """Yield shares of task time in a cluster whose threads sleep for unknown reasons."""
    if path != UNEXPLAINED or case.cluster is None or case.cluster.run is None:
        return
    whole = case.cluster.run.whole
    shares = {
        "waiting for other nodes": whole.share_of_tasks(WAIT, BLOCKED),
        "scheduling": whole.scheduling_share,
        "on a CPU": whole.share_of_tasks(CPU_TIME),
    }
    spent = {what: share for what, share in shares.items() if share}
    if spent:
        most = sorted(spent, key=lambda what: -spent[what])
        text = ", ".join(f"{percent_text(spent[what])} {what}" for what in most)
        yield f"of the time of tasks {text}"


def _cores_findings(case: Case) -> list[Finding]:
    """Return a finding on CPU utilisation, for runs whose operations have no known waits."""
    cores, busy = case.engine_cores, _busy(case)
    if not cores or not busy:
        return []
    operations = {op.name: (op.parallelism or 0.0) / cores for op in case.operations}
    engine = _engine_cores_used(case)
    if engine is not None and (case.load is not None or case.is_observed):
        operations = dict.fromkeys(operations, engine / cores)
    claim = f"{busy[:1].upper()}{busy[1:]}; what operations waited for was not measured"
    claim += "" if case.unsplit is None else f": {case.unsplit}"
    sentence = "; ".join(filter(None, (f"{_held(case)}{claim}", _top(case))))
    evidence = [Evidence(busy, "timeline")]
    share = max(operations.values(), default=0.0)
    finding = case.finding(METHOD, sentence, operations, tells="bound", evidence=evidence)
    return [finding if case.shares else _with_effect_of_whole(finding, share)]


def _with_effect_of_whole(finding: Finding, share: float) -> Finding:
    return replace(finding, effect_share=min(1.0, share), operations=(), fractions={})


def _evidence(case: Case) -> list[Evidence]:
    """Return the largest causes of the longest operations' time, as evidence."""
    top = sorted(case.shares.items(), key=lambda pair: -pair[1])[:NAMED_OPERATIONS]
    return [
        Evidence(
            f"{name} is {percent_text(share)} of the time: {_operation_text(case.trees[name])}",
            f"where:{name}",
        )
        for name, share in top
        if name in case.trees
    ]


def _operation_text(tree: TimeNode) -> str:
    parts = sorted((node for _, node in _parts(tree)), key=lambda node: -node.share)
    return ", ".join(
        f"{node.title} {percent_text(node.share)}" for node in parts[:NAMED_PARTS] if node.share
    )
