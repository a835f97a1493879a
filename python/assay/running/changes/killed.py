"""Detects processes that the kernel killed for lack of memory, and which limit did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.model import limit
from assay.model.units import bytes_text
from assay.running.changes.limits.contract import keyed

if TYPE_CHECKING:
    from collections.abc import Mapping

# The kernel's count of processes killed since boot for lack of memory.
VMSTAT, OOM_KILL = Path("/proc/vmstat"), "oom_kill"


def killed_on_host(vmstat: Path = VMSTAT) -> int | None:
    """Return the number of the host's processes that were killed for lack of memory."""
    return keyed(vmstat).get(OOM_KILL)


def killed_words(
    asked: Mapping[str, float], of_group: int | None, before: int | None, now: int | None
) -> str | None:
    """Return text on the cause of an out-of-memory kill; None without one.

    Args:
        asked: Requested limits of the run by name.
        of_group: Number of killed processes in the run's own control group.
        before: Number of killed processes of the host when the run began.
        now: Number of killed processes of the host now.
    """
    if of_group:
        size = asked.get(limit.MEMORY)
        of = "" if size is None else f" of {bytes_text(size)}"
        return f"the memory limit{of} (--limit memory) killed a process of the engine"
    if before is not None and now is not None and now > before:
        return (
            "the kernel killed a process for want of memory while this ran (oom_kill in"
            " /proc/vmstat; `dmesg` names it)"
        )
    return None
