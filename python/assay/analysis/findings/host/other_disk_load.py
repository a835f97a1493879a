"""Finds disk waits that other programs' use of the disk caused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.waiting.waits import waited, waiting_evidence
from assay.model.finding import Evidence
from assay.model.units import bytes_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.host.disk_use import DiskUse
    from assay.model.finding import Finding
    from assay.model.neighbour import Neighbour

METHOD = "other-disk-load"
EFFECT_MIN = 0.05
# Programs with a lower rate are the host's own background work, which hardly delays the engine.
RATE_MIN = 1 << 20
# Traffic of other programs as a share of the data disk's traffic. With a smaller share they hardly
# delay the engine. With a larger share they used another disk, or their dirty pages were not
# written.
OF_DISK_MIN, OF_DISK_MAX = 0.33, 1.5
BUSY_SHARE_MIN = 0.2
# Other programs with a smaller share of this traffic are not named.
NAMED_SHARE = 0.2
PARTS = (("log",), ("disk_read",), ("disk_write",), ("disk",))
NODES = {"log": "log"}


def find(case: Case) -> list[Finding]:
    """Return a finding of disk waits that other programs caused, for the largest kind of wait."""
    others = [neighbour for neighbour in case.neighbours or () if neighbour.moved_bytes]
    moved = sum(neighbour.moved_bytes or 0.0 for neighbour in others)
    if case.disk is None or not _are_to_blame(case.disk, moved):
        return []
    sizes = {
        names: case.with_measured(*names).of_run(waited(case.with_measured(*names), *names))
        for names in PARTS
    }
    names = max(sizes, key=lambda parts: sizes[parts])
    if sizes[names] < EFFECT_MIN:
        return []
    return [_finding(case.with_measured(*names), case.disk, others, names)]


def _are_to_blame(disk: DiskUse, moved: float) -> bool:
    """Return True if other programs read and wrote enough on the data's disk to slow the engine."""
    return (
        moved >= RATE_MIN * disk.seconds
        and OF_DISK_MIN * disk.moved_bytes <= moved <= OF_DISK_MAX * disk.moved_bytes
        and disk.busy_share >= BUSY_SHARE_MIN
    )


def _finding(case: Case, disk: DiskUse, others: list[Neighbour], names: tuple[str, ...]) -> Finding:
    fractions = waited(case, *names)
    effect = case.of_run(fractions)
    moved = sum(neighbour.moved_bytes or 0.0 for neighbour in others)
    largest = sorted(others, key=lambda neighbour: -(neighbour.moved_bytes or 0.0))
    named = [
        neighbour for neighbour in largest if (neighbour.moved_bytes or 0.0) >= NAMED_SHARE * moved
    ]
    who = " and ".join(neighbour.text for neighbour in named)
    claim = (
        f"Waiting for disk {disk.device} took {percent_text(effect)} of the time, while another "
        f"process, {who}, read and wrote {bytes_text(moved)} on it"
    )
    evidence = [
        *waiting_evidence(case, fractions, names),
        *(
            Evidence(
                f"{neighbour.text} read and wrote {bytes_text(neighbour.moved_bytes or 0.0)}",
                f"process:{neighbour.name}",
            )
            for neighbour in named
        ),
        Evidence(
            f"{disk.device} was busy {percent_text(disk.busy_share)} of the time and moved"
            f" {bytes_text(disk.moved_bytes)}",
            "timeline",
        ),
    ]
    to_try = f"run {named[0].name} at another time or on another disk, or limit its I/O rate"
    finding = case.finding(METHOD, claim, fractions, to_try=to_try, evidence=evidence)
    node = NODES.get(names[0], f"waiting/{names[0]}")
    return finding.without_interval().of(node, saved=(0.0, effect))
