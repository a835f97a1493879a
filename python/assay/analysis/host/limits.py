"""Resource limits of an engine: how much it used, and whether the limit slowed it.

The kernel reports the effect of CPU and memory limits: periods in which CPU time ran out, and
allocations at the memory limit. For disks the kernel reports nothing, so use is compared with
the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.model.limit import (
    CPU,
    MEMORY,
    READ_IOPS,
    READ_RATE,
    WRITE_IOPS,
    WRITE_RATE,
    amount_text,
)
from assay.model.units import NS_PER_S, count_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.record.reader import Run

# The control group's counter for each limit on a rate per second.
COUNTERS = {
    CPU: "cpu_ns",
    READ_IOPS: "reads",
    WRITE_IOPS: "writes",
    READ_RATE: "read_bytes",
    WRITE_RATE: "written_bytes",
}
PER_UNIT = {CPU: NS_PER_S}
# Use beyond a limit comes from unused allowance, which the kernel keeps for at most this time.
SAVED_UP_S = 0.2
# Quotas are whole microseconds of a period, and memory limits are whole pages.
ROUNDING_SHARE = 0.02
# From this share of its value on, a disk limit counts as fully used.
USED_UP_SHARE = 0.9


@dataclass(frozen=True)
class LimitUse:
    """The limit of one resource, and how much of it the engine used.

    Attributes:
        name: Name of the limit in the request.
        asked, effective: Requested limit and limit in effect: cores, CPUs, operations or bytes
            per second, or bytes. `effective` is None if the kernel reports none.
        used: Mean use between the two readings, in the same unit; for memory the maximum; None
            if not counted.
        seconds: Time between the readings.
        felt: Share of periods in which CPU time ran out, or number of times that memory reached
            its limit; None if the kernel does not report it.
        binding: Whether the limit slowed the engine; None if not known.
    """

    name: str
    asked: float
    effective: float | None
    used: float | None
    seconds: float | None
    felt: float | None
    binding: bool | None

    @property
    def in_effect(self) -> bool:
        """True if the kernel reports the limit that was requested."""
        if self.effective is None:
            return False
        return abs(self.effective - self.asked) <= ROUNDING_SHARE * self.asked

    @property
    def excess(self) -> float | None:
        """The resource use beyond its limit, as a share of the limit; None if not known."""
        if self.used is None:
            return None
        allowed = self.asked
        if self.name in COUNTERS:
            if not self.seconds:
                return None
            allowed *= (self.seconds + SAVED_UP_S) / self.seconds
        return max(0.0, self.used / allowed - 1)


@dataclass(frozen=True)
class LimitsUsed:
    """The use of all resource limits of a run.

    Attributes:
        version: Version of the control groups.
        device: The device to which disk limits apply; None means no disk limits.
        uses: Use of each limit.
        notes: Notes for readers.
        oom_kills: Number of processes killed for lack of memory; None if not counted.
    """

    version: int
    device: str | None
    uses: tuple[LimitUse, ...]
    notes: tuple[str, ...]
    oom_kills: int | None


def limits_used(run: Run) -> LimitsUsed | None:
    """Return the use of a run's limits; None if nothing was limited."""
    limits = run.facts.get("limits")
    if not limits:
        return None
    start, end = (limits["counted"].get(edge) or {} for edge in ("start", "end"))
    grown = {
        name: end[name] - start[name]
        for name in end
        if end[name] is not None and start.get(name) is not None
    }
    uses = tuple(
        _use(name, asked, limits["effective"].get(name), grown, end)
        for name, asked in limits["asked"].items()
    )
    kills = grown.get("oom_kills")
    return LimitsUsed(limits["version"], limits["device"], uses, tuple(limits["notes"]), kills)


def use_words(use: LimitUse) -> str:
    """Return text on a limit and its use: `cpu 0.5 cores, 0.49 cores used, never met`."""
    phrases = [f"{use.name} {amount_text(use.name, use.asked)}"]
    if use.used is not None:
        most = "at most " if use.name == MEMORY else ""
        phrases.append(f"{most}{amount_text(use.name, use.used)} used")
    if use.felt is not None and use.name == CPU:
        phrases.append(f"run out in {percent_text(use.felt)} of the periods")
    elif use.felt:
        phrases.append(f"met {count_text(use.felt)} times")
    elif use.felt == 0:
        phrases.append("never met")
    return ", ".join(phrases)


def _use(
    name: str,
    asked: float,
    effective: float | None,
    grown: Mapping[str, Any],
    end: Mapping[str, Any],
) -> LimitUse:
    seconds = grown["time_ns"] / NS_PER_S if grown.get("time_ns") else None
    used, felt, binding = None, None, None
    if name == MEMORY:
        used, felt = end.get("memory_peak_bytes"), grown.get("memory_limit_hits")
        binding = None if felt is None else felt > 0
    elif name in COUNTERS and seconds:
        counted = grown.get(COUNTERS[name])
        used = None if counted is None else counted / PER_UNIT.get(name, 1) / seconds
        if name == CPU and grown.get("periods"):
            felt = grown["throttled_periods"] / grown["periods"]
            binding = felt > 0
        elif used is not None and used >= USED_UP_SHARE * asked:
            binding = True
    return LimitUse(name, asked, effective, used, seconds, felt, binding)
