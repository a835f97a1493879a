"""Control groups of version 2: one directory in the nearest group with the controllers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from assay.model import limit
from assay.running.asked.placement import parse_cpu_list
from assay.running.changes.limits.contract import (
    COUNTERS,
    MEMBERS,
    Counted,
    keyed,
    made,
    read_text,
    whole,
    written,
)
from assay.running.changes.limits.limit import period_us, quota_us

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from assay.running.changes.limits.contract import Wish
    from assay.running.changes.limits.hierarchies import Hierarchies
    from assay.running.changes.undo import Journal

CONTROLLERS = {
    limit.CPU: "cpu",
    limit.CPUS: "cpuset",
    limit.MEMORY: "memory",
    **dict.fromkeys(limit.OF_DISK, "io"),
}
THROTTLES = {
    limit.READ_IOPS: "riops",
    limit.WRITE_IOPS: "wiops",
    limit.READ_RATE: "rbps",
    limit.WRITE_RATE: "wbps",
}
GIVEN = "cgroup.subtree_control"
NS_PER_US = 1000


class SecondGroup:
    """A control group of version 2, as one directory."""

    version = 2

    def __init__(self, wish: Wish, parent: Path, journal: Journal) -> None:
        self._wish = wish
        self.notes: list[str] = []
        self._group = parent / wish.name
        self._have_given(parent)
        made(self._group, journal)
        self._limit()

    def settle(self, journal: Journal) -> None:
        """Do nothing, because version 2 control groups also limit the kernel's writes."""

    def members(self) -> list[Path]:
        """The member files of a version 2 control group."""
        return [self._group / MEMBERS]

    def effective(self) -> dict[str, float | None]:
        """The limits in force in a version 2 control group."""
        return {name: self._effective_limit(name) for name in self._wish.limits}

    def counted(self) -> Counted:
        """The counters of a version 2 control group."""
        counted: Counted = dict.fromkeys(COUNTERS)
        needed = needed_controllers(self._wish.limits)
        if "cpu" in needed:
            stat = keyed(self._group / "cpu.stat")
            counted["cpu_ns"] = _ns(stat.get("usage_usec"))
            counted["periods"] = stat.get("nr_periods")
            counted["throttled_periods"] = stat.get("nr_throttled")
            counted["throttled_ns"] = _ns(stat.get("throttled_usec"))
        if "io" in needed:
            stats = self._device_stats("io.stat")
            for counter, key in (
                ("reads", "rios"),
                ("writes", "wios"),
                ("read_bytes", "rbytes"),
                ("written_bytes", "wbytes"),
            ):
                counted[counter] = whole(stats.get(key, "0"))
        if "memory" in needed:
            events = keyed(self._group / "memory.events")
            counted["memory_bytes"] = whole(self._text("memory.current"))
            counted["memory_peak_bytes"] = whole(self._text("memory.peak"))
            counted["memory_limit_hits"] = events.get("max")
            counted["oom_kills"] = events.get("oom_kill")
        return counted

    def _have_given(self, parent: Path) -> None:
        """Let the child control groups of a control group use the resource controllers that it has.

        The delegation is not reverted: other groups may use it by then, and it limits no process.
        """
        given = (read_text(parent / GIVEN) or "").split()
        missing = [n for n in needed_controllers(self._wish.limits) if n not in given]
        if missing:
            written(parent / GIVEN, " ".join(f"+{name}" for name in missing))
            self.notes.append(f"{parent} gives {', '.join(missing)} to groups below it from now on")

    def _limit(self) -> None:
        asked = self._wish.limits
        if limit.CPU in asked:
            cores = asked[limit.CPU]
            quota, period = quota_us(cores), period_us(cores)
            written(self._group / "cpu.max", f"{quota} {period}")
        if limit.CPUS in asked:
            written(self._group / "cpuset.cpus", ",".join(map(str, self._wish.cpus)))
        if limit.MEMORY in asked:
            written(self._group / "memory.max", str(round(asked[limit.MEMORY])))
        disks = [f"{key}={round(asked[name])}" for name, key in THROTTLES.items() if name in asked]
        if disks and self._wish.device is not None:
            written(self._group / "io.max", f"{self._wish.device.number} {' '.join(disks)}")
            if {limit.WRITE_IOPS, limit.WRITE_RATE} & set(asked) and limit.MEMORY not in asked:
                self.notes.append(
                    "writes that the kernel does later for the engine are limited where its memory"
                    " is, too: add a limit of memory"
                )

    def _text(self, file: str) -> str | None:
        return read_text(self._group / file)

    def _effective_limit(self, name: str) -> float | None:
        """Return a version 2 control group's limit as the kernel reports it."""
        match name:
            case limit.CPU:
                return self._cores()
            case limit.CPUS:
                return self._cpus()
            case limit.MEMORY:
                return whole(self._text("memory.max"))
            case _:
                return self._throttle(name)

    def _cores(self) -> float | None:
        quota, _, period = (self._text("cpu.max") or "").partition(" ")
        share, whole_us = whole(quota), whole(period)
        return share / whole_us if share and whole_us else None

    def _cpus(self) -> int | None:
        cpus = self._text("cpuset.cpus.effective")
        return len(parse_cpu_list(cpus)) if cpus else None

    def _throttle(self, name: str) -> int | None:
        return whole(self._device_stats("io.max").get(THROTTLES[name]))

    def _device_stats(self, file: str) -> dict[str, str]:
        """Return the device's counters in a control group file, such as `rbytes=1 wbytes=2`."""
        number = self._wish.device.number if self._wish.device else None
        for line in (self._text(file) or "").splitlines():
            first, *rest = line.split()
            if first == number:
                return dict(word.split("=", 1) for word in rest)
        return {}


def needed_controllers(limits: Iterable[str]) -> list[str]:
    """Return the version 2 controllers that some limits need."""
    return list(dict.fromkeys(CONTROLLERS[name] for name in limits))


def parent_for(limits: Iterable[str], hierarchies: Hierarchies) -> Path | None:
    """Return the nearest control group that can contain groups with the needed limits.

    The result is None if no such group is writable. Except for the root, a group with processes
    cannot delegate controllers, so it is rarely this process's own group.
    """
    needed = set(needed_controllers(limits))
    for group in _upwards(hierarchies):
        there = set((read_text(group / "cgroup.controllers") or "").split())
        given = set((read_text(group / GIVEN) or "").split())
        gives = needed <= given or (
            os.access(group / GIVEN, os.W_OK) and (_is_top(group) or not _is_inhabited(group))
        )
        if needed <= there and gives and os.access(group, os.W_OK):
            return group
    return None


def _upwards(hierarchies: Hierarchies) -> Iterator[Path]:
    group = hierarchies.second
    while group is not None and hierarchies.top is not None:
        yield group
        group = group.parent if group != hierarchies.top else None


def _is_top(group: Path) -> bool:
    """Return True for the topmost control group."""
    return not (group / "cgroup.type").exists()


def _is_inhabited(group: Path) -> bool:
    return bool(read_text(group / MEMBERS))


def _ns(microseconds: int | None) -> int | None:
    return None if microseconds is None else microseconds * NS_PER_US
