"""Describes the host and Assay for `environment.json`.

Facts that cannot be read are null.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from assay.model.secrets import without_secrets
from assay.running.host.devices import device_of
from assay.version import VERSION

# The kernel writes a space in a mount point as \040, and escapes three other characters likewise.
MOUNT_ESCAPE = re.compile(r"\\([0-7]{3})")


def describe_host(directory: Path, data: Path | None = None) -> dict[str, Any]:
    """Return the facts of the host that can change a measurement, such as CPUs and mounts.

    Args:
        directory: Directory of instances.
        data: Directory of the measured instance's data; None if not known.
    """
    mounted = mount_of(directory if data is None else data)
    source = None if mounted is None else mounted["device"]
    return {
        "host": platform.node(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "distribution": _os_release(),
        "cpu": {
            "model": _cpuinfo("model name"),
            "online": os.cpu_count(),
            "allowed": sorted(os.sched_getaffinity(0)),
            "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            "virtual": "hypervisor" in (_cpuinfo("flags") or "").split(),
        },
        "memory_bytes": _memory_bytes(),
        "clock_source": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "transparent_hugepages": _read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "delay_accounting": _read("/proc/sys/kernel/task_delayacct"),
        "perf_event_paranoid": _read("/proc/sys/kernel/perf_event_paranoid"),
        "data_filesystem": mounted,
        "data_device": None if data is None else device_of(data, source),
    }


def describe_ourselves() -> dict[str, Any]:
    """Return the version of Assay and its command line, without secrets."""
    return {
        "version": VERSION,
        "commit": _commit(),
        "python": platform.python_version(),
        "command_line": [without_secrets(argument) for argument in sys.argv],
    }


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return None


def _cpuinfo(field: str) -> str | None:
    for line in (_read("/proc/cpuinfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == field:
            return value.strip()
    return None


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def _os_release() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def mount_of(path: Path, mounts: str = "/proc/self/mounts") -> dict[str, str] | None:
    """Return device, mount point and type of the file system that holds `path`."""
    best: dict[str, str] | None = None
    for line in (_read(mounts) or "").splitlines():
        device, mount_point, kind = (_unescaped(field) for field in line.split(" ")[:3])
        inside = path.absolute().is_relative_to(mount_point)
        if inside and (best is None or len(mount_point) >= len(best["mount_point"])):
            best = {"device": device, "mount_point": mount_point, "type": kind}
    return best


def _unescaped(field: str) -> str:
    return MOUNT_ESCAPE.sub(lambda escape: chr(int(escape[1], 8)), field)


def _commit() -> str | None:
    """Return the commit of the source tree of Assay; None without one."""
    tree = Path(__file__).resolve().parents[4]
    if not (tree / ".git").exists():
        return None
    command = ["git", "-C", str(tree), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        completed = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return completed.stdout.strip() or None
