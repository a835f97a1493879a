"""Claims about a run, each with its numbers. Silence where there is nothing to say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.analysis.causes import UNCOVERED
from assay.analysis.split import COVERAGE_MAX
from assay.model.finding import Finding
from assay.model.units import bytes_text, count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.summary import OperationSummary

# A resource bounds a run when it took the larger part of the thread time.
BOUND_SHARE = 0.5
# All cores are busy when hardly a tenth of them is not.
ALL_CORES_SHARE = 0.85
# As few operations as make up about half of the time are worth naming.
NAMED_OPERATIONS = 3
# Kernel time is worth a word when it is a fifth of an operation's and a twentieth of the run's.
KERNEL_SHARE = 0.2
KERNEL_RUN_SHARE = 0.05

# Parts of the time that were waiting for a disk.
DISK = ("disk_read", "disk_write", "disk")

# What is claimed of a run must be known of this much of its time.
KNOWN_SHARE = 0.5

# The figure of an engine's counters that tells of spilling, and what of it is worth a word.
SPILLED = "temporary_bytes"
SPILLED_BYTES_MIN = 1 << 20

METHOD_BOUND = "bound-by"
METHOD_KERNEL = "kernel-time"
METHOD_SPILL = "spill"


def findings(
    run_id: str, operations: Sequence[OperationSummary], cores: int | None
) -> list[Finding]:
    """All findings of one run, largest effect first."""
    found = [bound_by(run_id, operations, cores), *kernel_time(run_id, operations, cores)]
    return by_effect([finding for finding in found if finding is not None])


def by_effect(found: Sequence[Finding]) -> list[Finding]:
    """Findings, largest effect first."""
    return sorted(found, key=lambda finding: -finding.effect_share)


def bound_by(
    run_id: str, operations: Sequence[OperationSummary], cores: int | None
) -> Finding | None:
    """What bounds the run as a whole, and which operations are most of its time."""
    split = [op for op in operations if _can_be_split(op, cores)]
    known = sum(op.share or 0.0 for op in split)
    if known < KNOWN_SHARE:
        return None

    def part(name: str) -> float:
        return sum((op.where[name] or 0.0) * (op.share or 0.0) for op in split) / known

    cpu = part("cpu_user") + part("cpu_system")
    disk, waiting = sum(part(name) for name in DISK), part("run_queue")
    disk_known = all(any(op.where[name] is not None for name in DISK) for op in split)
    busy = sum((op.parallelism or 0.0) * (op.share or 0.0) for op in split) / known
    top = sorted(split, key=lambda op: -(op.share or 0.0))[:NAMED_OPERATIONS]
    names = ", ".join(op.name for op in top)
    named = f"{names} are {percent_text(sum(op.share or 0.0 for op in top))} of the time"
    of_cores = f" of {cores}" if cores else ""
    to_try = None
    if disk >= BOUND_SHARE:
        claim = f"Disk-bound: {percent_text(disk)} of the time was waiting for disk; {named}"
        effect = disk
    elif waiting >= BOUND_SHARE:
        claim = f"Short of CPUs: {percent_text(waiting)} of the time was waiting for one; {named}"
        effect = waiting
    elif cores is not None and busy >= ALL_CORES_SHARE * cores:
        claim = f"CPU-bound: {busy:.2g}{of_cores} cores busy; {named}"
        effect = cpu
    elif cpu >= BOUND_SHARE:
        claim = f"CPU-bound, on {busy:.2g}{of_cores} cores busy on average; {named}"
        effect = cpu
        to_try = f"assay show {run_id} --all: which operations run on one core"
    elif cpu + waiting >= BOUND_SHARE:
        claim = (
            f"CPU-bound, and short of CPUs: {percent_text(cpu)} of the time on a CPU,"
            f" {percent_text(waiting)} waiting for one; {named}"
        )
        effect = cpu + waiting
    else:
        rest = percent_text(part(UNCOVERED))
        neither = "neither CPU nor disk" if disk_known else "no CPU (disk not measured)"
        claim = f"Bound by {neither}: {rest} of thread time has no counter; {named}"
        effect = part(UNCOVERED)
    return Finding(claim, effect, None, (run_id,), METHOD_BOUND, to_try)


def _can_be_split(op: OperationSummary, cores: int | None) -> bool:
    """Whether an operation's counters can be believed."""
    if op.share is None or op.coverage is None or op.parallelism is None:
        return False
    return cores is None or op.parallelism <= cores * COVERAGE_MAX


def kernel_time(
    run_id: str, operations: Sequence[OperationSummary], cores: int | None
) -> list[Finding | None]:
    """Operations that spent much of their CPU time in the kernel, with their page faults."""
    found: list[Finding | None] = []
    for op in operations:
        if not _can_be_split(op, cores):
            continue
        system, user = op.where["cpu_system"], op.where["cpu_user"]
        if system is None or user is None or op.share is None or user + system == 0:
            continue
        effect = system * op.share
        if system / (user + system) >= KERNEL_SHARE and effect >= KERNEL_RUN_SHARE:
            faults = f", {count_text(op.minor_faults)} page faults" if op.minor_faults else ""
            share = percent_text(system / (user + system))
            claim = f"{op.name} spent {share} of its CPU time in the kernel{faults} a run"
            found.append(Finding(claim, effect, None, (run_id,), METHOD_KERNEL))
    return found


def spilled(
    run_id: str, operations: Sequence[OperationSummary], counted: dict[str, Any] | None
) -> list[Finding]:
    """Operations that wrote temporary files, by what the engine counted around each of them."""
    figures = [f for f in (counted or {"counters": []})["counters"] if f["name"] == SPILLED]
    shares = {op.name: op.share for op in operations}
    found = []
    for figure in figures:
        wrote = {
            name: written
            for name, written in figure["operations"].items()
            if written >= SPILLED_BYTES_MIN and shares.get(name) is not None
        }
        if wrote:
            claim, effect = _spill_words(wrote, shares), sum(shares[name] or 0.0 for name in wrote)
            found.append(Finding(claim, effect, None, (run_id,), METHOD_SPILL, figure["to_try"]))
    return found


def _spill_words(wrote: dict[str, float], shares: dict[str, float | None]) -> str:
    """Who spilled how much, most first, and how much of the time they are."""
    most = sorted(wrote, key=lambda name: -wrote[name])
    first, *others = [(name, bytes_text(wrote[name])) for name in most[:NAMED_OPERATIONS]]
    words = f"{first[0]} spilled {first[1]} to temporary files"
    words += "".join(f", {name} {written}" for name, written in others)
    left = len(most) - NAMED_OPERATIONS
    words += f", and {left} more did" if left > 0 else ""
    share = percent_text(sum(shares[name] or 0.0 for name in most))
    what = "they are" if others else "it is"
    return f"{words}, by the engine's own count; {what} {share} of the time"
