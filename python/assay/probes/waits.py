"""Samples the waits of the engine's threads, and its CPU limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.probes.sampled import Sampled
from assay.record.layout import ENGINE_ACCOUNTS

if TYPE_CHECKING:
    from assay.probes.contract import Target


class WaitsProbe(Sampled):
    """Samples /proc/PID/task/TID of the engine's threads."""

    name = "waits"
    stream = "probe-waits"
    cost = "reads one /proc file a thread at each look, and up to three more if the thread ran"
    look_interval_s = 0.01  # threads that live shorter than this are never seen
    core_share_max: float = 0.0022

    def applies(self, target: Target) -> bool:
        """Return True if the engine's processes run on this host."""
        return bool(self.followed(target))

    def followed(self, target: Target) -> list[tuple[int, str]]:
        """Return the engine's processes, whose waits are sampled."""
        return [entry for entry in target.followed if entry[1] in ENGINE_ACCOUNTS]


probe = WaitsProbe
