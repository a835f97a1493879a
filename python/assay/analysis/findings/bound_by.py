"""What bounds the run as a whole, in the power order, and which operations are most of its time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.causes import TITLES, UNCOVERED
from assay.analysis.cluster_counters import BLOCKED, WAIT
from assay.analysis.cluster_counters import CPU as CPU_TIME
from assay.analysis.findings.case import DISK
from assay.model.finding import Evidence, Finding
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.analysis.findings.case import Case
    from assay.analysis.summary import OperationSummary

METHOD = "bound-by"
# A resource bounds a run when it took the larger part of the thread time.
BOUND_SHARE = 0.5
# All cores are busy when hardly a tenth of them is not.
ALL_CORES_SHARE = 0.85
# As few operations as make up about half of the time are worth naming.
NAMED_OPERATIONS = 3
# Parts that are waiting for the engine's other threads: those say what the time went into.
FOR_OTHERS = ("workers", "idle")
# What is so much of a part stands for it.
MOST_SHARE = 2 / 3
CPU = ("cpu_user", "cpu_system")


@dataclass(frozen=True)
class Bound:
    """Something other than work that a run can be bound by: its parts, and how it is said."""

    parts: tuple[str, ...]
    words: str


BOUNDS = (
    Bound(DISK, "Disk-bound: {share} of the time was waiting for {disk}"),
    Bound(("run_queue",), "Short of CPUs: {share} of the time was waiting for one"),
    Bound(("throttled",), "Held back by a CPU limit for {share} of the time"),
    Bound(("stolen",), "Short of CPUs: the hypervisor took {share} of the time"),
    Bound(("lock", "latch"), "Lock-bound: {share} of the time was waiting for locks"),
    Bound(("client",), "Bound by the client: {share} of the time was waiting for it"),
    Bound(("paused",), "Paused for {share} of the time"),
)


def find(case: Case) -> list[Finding]:
    """What bounds the run; silent under a load, and where most of the time was not split."""
    split = case.believable
    known = case.only(op.name for op in split)
    if case.load is not None:
        return []
    if not known.operations:
        return _of_nodes(case)
    top = sorted(split, key=lambda op: -(op.share or 0.0))[:NAMED_OPERATIONS]
    names = ", ".join(op.name for op in top)
    named = f"{names} are {percent_text(sum(op.share or 0.0 for op in top))} of the time"
    claim, parts = _bound(case, split)
    of_each = {op.name: _of_own_work(op, parts) for op in split}
    found = Finding(
        claim=f"{claim}; {named}",
        effect_share=known.of_run(of_each),
        interval=known.interval(of_each),
        runs=(case.run_id,),
        method=METHOD,
        tells="bound",
        evidence=tuple(_evidence(op) for op in top),
    )
    return [found]


def _of_nodes(case: Case) -> list[Finding]:
    """How busy a cluster kept the CPUs: which threads worked for an operation nobody tells."""
    cores = case.engine_cores
    if case.cluster is None or not cores:
        return []
    told = {op.name: op for op in case.operations if op.parallelism is not None}
    known = case.only(told)
    if not known.operations:
        return []
    busy = {op.name: (op.parallelism or 0.0) / cores for op in known.operations}
    share = known.of_run(busy)
    words = f"{share * cores:.2g} of {cores} cores busy"
    is_bound = share >= ALL_CORES_SHARE
    claim = f"CPU-bound: {words}" if is_bound else f"Not bound by the CPU alone: {words} on average"
    top = sorted(known.operations, key=lambda op: -(op.share or 0.0))[:NAMED_OPERATIONS]
    names = [op.name for op in top]
    together = percent_text(sum(op.share or 0.0 for op in top))
    claim = f"{claim}; {', '.join(names)} are {together} of the time"
    evidence = [
        Evidence(f"{name}: {told[name].parallelism:.2g} cores busy", f"where:{name}")
        for name in names
    ]
    return [known.finding(METHOD, claim, busy, tells="bound", evidence=evidence)]


def _bound(case: Case, split: Sequence[OperationSummary]) -> tuple[str, tuple[str, ...]]:
    """The claim, and the parts that it is about."""
    known = sum(op.share or 0.0 for op in split)

    def part(*names: str) -> float:
        return sum(_of_own_work(op, names) * (op.share or 0.0) for op in split) / known

    busy = sum((op.parallelism or 0.0) * (op.share or 0.0) for op in split) / known
    cores = case.engine_cores
    of_cores = f" of {cores}" if cores else ""
    largest = max(BOUNDS, key=lambda bound: part(*bound.parts))
    share, cpu, queue = part(*largest.parts), part(*CPU), part("run_queue")
    if share >= BOUND_SHARE:
        disk = _disk_words(part("disk_read") / share, part("disk_write") / share)
        return largest.words.format(share=percent_text(share), disk=disk), largest.parts
    if cores is not None and busy >= ALL_CORES_SHARE * cores:
        return f"CPU-bound: {busy:.2g}{of_cores} cores busy", CPU
    if cpu >= BOUND_SHARE:
        return f"CPU-bound, on {busy:.2g}{of_cores} cores busy on average", CPU
    if cpu + queue >= BOUND_SHARE:
        claim = (
            f"CPU-bound, and short of CPUs: {percent_text(cpu)} of the time on a CPU,"
            f" {percent_text(queue)} waiting for one"
        )
        return claim, (*CPU, "run_queue")
    parts = {name: part(name) for name in TITLES}
    told = None
    if parts[UNCOVERED] == max(parts.values()):
        told = _between_nodes(case, f"{busy:.2g}{of_cores} cores busy")
    return told or _by_no_one_thing(parts)


def _disk_words(reads: float, writes: float) -> str:
    """What a disk was waited for, where one of both is most of it."""
    if max(reads, writes) < MOST_SHARE:
        return "disk"
    return "disk reads" if reads > writes else "disk writes and syncs"


def _between_nodes(case: Case, busy: str) -> tuple[str, tuple[str, ...]] | None:
    """What tasks of a cluster spent their time for, where threads' own sleep says nothing."""
    if case.cluster is None or case.cluster.run is None:
        return None
    whole = case.cluster.run.whole
    told = {
        "waiting for other nodes": whole.share_of_tasks(WAIT, BLOCKED),
        "scheduling": whole.scheduling_share,
        "on a CPU": whole.share_of_tasks(CPU_TIME),
    }
    known = {what: share for what, share in told.items() if share}
    if not known:
        return None
    most = sorted(known, key=lambda what: -known[what])
    words = ", ".join(f"{percent_text(known[what])} {what}" for what in most)
    claim = f"Bound by no one thing: {busy}; of the time of tasks {words}"
    return claim, (UNCOVERED,)


def _by_no_one_thing(parts: Mapping[str, float]) -> tuple[str, tuple[str, ...]]:
    """Where nothing has the larger part: the largest parts, so that a reader sees why."""
    told = {name: share for name, share in parts.items() if name not in (*CPU, *FOR_OTHERS)}
    most = sorted(told, key=lambda name: -told[name])[:NAMED_OPERATIONS]
    words = ", ".join(f"{percent_text(told[name])} {TITLES[name]}" for name in most if told[name])
    on_cpu = sum(parts[name] for name in CPU)
    on_which = f"Bound by no one thing: {percent_text(on_cpu)} on a CPU"
    return ", ".join(filter(None, (on_which, words))), (most[0],)


def _of_own_work(op: OperationSummary, names: Sequence[str]) -> float:
    """Share of parts in what is left of an operation's time without waiting for other threads."""
    own = 1.0 - sum(op.where.get(name) or 0.0 for name in FOR_OTHERS)
    return sum(op.where.get(name) or 0.0 for name in names) / own if own > 0 else 0.0


def _evidence(op: OperationSummary) -> Evidence:
    parts = {name: share for name, share in op.where.items() if share}
    most = sorted(parts, key=lambda name: -parts[name])[:NAMED_OPERATIONS]
    told = ", ".join(f"{percent_text(parts[name])} {TITLES.get(name, name)}" for name in most)
    return Evidence(
        f"{op.name} is {percent_text(op.share)} of the time: {told}", f"where:{op.name}"
    )
