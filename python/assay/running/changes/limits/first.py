"""Control groups of version 1: one directory in the tree of each needed controller."""

from __future__ import annotations

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
from assay.running.changes.undo import Step

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from assay.running.changes.limits.contract import Wish
    from assay.running.changes.limits.hierarchies import Hierarchies
    from assay.running.changes.undo import Journal

CONTROLLERS = {
    limit.CPU: "cpu",
    limit.CPUS: "cpuset",
    limit.MEMORY: "memory",
    **dict.fromkeys(limit.OF_DISK, "blkio"),
}
# This controller limits nothing, but counts the CPU time that `cpu` limits.
ACCOUNTING = "cpuacct"
THROTTLES = {
    limit.READ_IOPS: "blkio.throttle.read_iops_device",
    limit.WRITE_IOPS: "blkio.throttle.write_iops_device",
    limit.READ_RATE: "blkio.throttle.read_bps_device",
    limit.WRITE_RATE: "blkio.throttle.write_bps_device",
}
OF_WRITES = (limit.WRITE_IOPS, limit.WRITE_RATE)


class FirstGroup:
    """A control group of version 1, as directories in several trees."""

    version = 1

    def __init__(self, wish: Wish, hierarchies: Hierarchies, journal: Journal) -> None:
        self._wish = wish
        self.notes: list[str] = []
        needed = needed_controllers(wish.limits)
        if "cpu" in needed and ACCOUNTING in hierarchies.first:
            needed.append(ACCOUNTING)
        self._groups = {name: hierarchies.first[name] / wish.name for name in needed}
        for directory in dict.fromkeys(self._groups.values()):
            made(directory, journal)
        self._limit(hierarchies)
        self._top = _top(hierarchies.first["blkio"]) if "blkio" in needed else None

    def settle(self, journal: Journal) -> None:
        """Limit the kernel's own threads that write to the data's device.

        The kernel's threads write dirty pages of all processes and run in the root group.
        """
        writes = [name for name in self._on_disk() if name in OF_WRITES]
        device = self._wish.device
        if not (writes and self._wish.device_is_ours and self._top and device):
            return
        for name in writes:
            file = self._top / THROTTLES[name]
            what = f"{name} of {device.name} for the kernel's own threads"
            journal.note(Step("write", str(file), what, f"{device.number} 0"))
            self._throttled(self._top, name)
        self.notes.append(
            f"writes that the kernel does later on {device.name} are limited as much, by themselves"
        )

    def members(self) -> list[Path]:
        """The member files of a version 1 control group."""
        return [group / MEMBERS for group in dict.fromkeys(self._groups.values())]

    def effective(self) -> dict[str, float | None]:
        """The limits in force in a version 1 control group."""
        return {name: self._effective_limit(name) for name in self._wish.limits}

    def counted(self) -> Counted:
        """The counters of a version 1 control group."""
        counted: Counted = dict.fromkeys(COUNTERS)
        if (group := self._groups.get("cpu")) is not None:
            stat = keyed(group / "cpu.stat")
            counted["cpu_ns"] = whole(self._text(ACCOUNTING, "cpuacct.usage"))
            counted["periods"] = stat.get("nr_periods")
            counted["throttled_periods"] = stat.get("nr_throttled")
            counted["throttled_ns"] = stat.get("throttled_time")
        if "blkio" in self._groups:
            for file, read, write in (
                ("blkio.throttle.io_serviced", "reads", "writes"),
                ("blkio.throttle.io_service_bytes", "read_bytes", "written_bytes"),
            ):
                counted[read], counted[write] = self._serviced(file)
        if (group := self._groups.get("memory")) is not None:
            counted["memory_bytes"] = whole(read_text(group / "memory.usage_in_bytes"))
            counted["memory_peak_bytes"] = whole(read_text(group / "memory.max_usage_in_bytes"))
            counted["memory_limit_hits"] = whole(read_text(group / "memory.failcnt"))
            counted["oom_kills"] = keyed(group / "memory.oom_control").get("oom_kill")
        return counted

    def _limit(self, hierarchies: Hierarchies) -> None:
        asked = self._wish.limits
        if limit.CPU in asked:
            cores = asked[limit.CPU]
            written(self._groups["cpu"] / "cpu.cfs_period_us", str(period_us(cores)))
            written(self._groups["cpu"] / "cpu.cfs_quota_us", str(quota_us(cores)))
        if limit.CPUS in asked:
            self._place(hierarchies.first["cpuset"])
        if limit.MEMORY in asked:
            most = str(round(asked[limit.MEMORY]))
            written(self._groups["memory"] / "memory.limit_in_bytes", most)
        for name in self._on_disk():
            self._throttled(self._groups["blkio"], name)
        if set(OF_WRITES) & set(asked) and not self._wish.device_is_ours:
            self.notes.append(
                "writes that the kernel does later for the engine are not limited by control groups"
                " of version 1: --device own limits these, too"
            )

    def _place(self, around: Path) -> None:
        """Set the control group's CPUs and memory nodes, without which no process may enter it."""
        mems = read_text(around / "cpuset.effective_mems") or read_text(around / "cpuset.mems")
        written(self._groups["cpuset"] / "cpuset.mems", mems or "0")
        cpus = ",".join(map(str, self._wish.cpus))
        written(self._groups["cpuset"] / "cpuset.cpus", cpus)

    def _throttled(self, group: Path, name: str) -> None:
        assert self._wish.device is not None  # noqa: S101 - disks are limited
        most = round(self._wish.limits[name])
        written(group / THROTTLES[name], f"{self._wish.device.number} {most}")

    def _on_disk(self) -> list[str]:
        return [name for name in self._wish.limits if name in limit.OF_DISK]

    def _text(self, controller: str, file: str) -> str | None:
        group = self._groups.get(controller)
        return None if group is None else read_text(group / file)

    def _effective_limit(self, name: str) -> float | None:
        """Return a version 1 control group's limit as the kernel reports it."""
        match name:
            case limit.CPU:
                return self._cores()
            case limit.CPUS:
                return self._cpus()
            case limit.MEMORY:
                return whole(self._text("memory", "memory.limit_in_bytes"))
            case _:
                return self._throttle(name)

    def _cores(self) -> float | None:
        quota = whole(self._text("cpu", "cpu.cfs_quota_us"))
        period = whole(self._text("cpu", "cpu.cfs_period_us"))
        return quota / period if quota and period and quota > 0 else None

    def _cpus(self) -> int | None:
        cpus = self._text("cpuset", "cpuset.effective_cpus") or self._text("cpuset", "cpuset.cpus")
        return len(parse_cpu_list(cpus)) if cpus else None

    def _throttle(self, name: str) -> int | None:
        for fields in self._lines(THROTTLES[name]):
            return whole(fields[-1])
        return None

    def _serviced(self, file: str) -> tuple[int | None, int | None]:
        """Return the number of reads and writes of the device; 0 before its first request."""
        counts = {fields[1]: int(fields[2]) for fields in self._lines(file)}
        return counts.get("Read", 0), counts.get("Write", 0)

    def _lines(self, file: str) -> Iterable[list[str]]:
        """Yield the words of each line about the data's device in a control group file."""
        lines = (self._text("blkio", file) or "").splitlines()
        number = self._wish.device.number if self._wish.device else None
        return [line.split() for line in lines if line.split()[:1] == [number]]


def needed_controllers(limits: Iterable[str]) -> list[str]:
    """Return the version 1 controllers that some limits need."""
    return list(dict.fromkeys(CONTROLLERS[name] for name in limits))


def _top(group: Path) -> Path:
    """Return the topmost control group above a group."""
    return next((above for above in (group, *group.parents) if _is_top(above)), group)


def _is_top(group: Path) -> bool:
    return (group / "release_agent").exists()
