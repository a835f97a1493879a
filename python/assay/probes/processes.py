"""Samples CPU, faults, storage bytes, memory, switches and run-queue delay of a run's processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.probes.sampled import Sampled

if TYPE_CHECKING:
    from assay.probes.contract import Target


class ProcessesProbe(Sampled):
    """Reads /proc/PID of every followed process, its descendants and their threads."""

    name = "processes"
    stream = "processes"
    cost = "reads four /proc files a process that ran, and two a thread that ran, at each sample"
    core_share_max: float = 0.0013

    def followed(self, target: Target) -> list[tuple[int, str]]:
        """Return all processes of a run that are sampled, each with its account."""
        return list(target.followed)


probe = ProcessesProbe
