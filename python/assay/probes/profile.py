"""Takes CPU samples of the engine's threads, with their stacks."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

from assay._core import Profiler
from assay.probes.contract import Cost
from assay.probes.jit import Started, find_started, perf_maps
from assay.record.layout import ENGINE_ACCOUNTS, SAMPLING_FILE
from assay.record.writer import write_json

if TYPE_CHECKING:
    from pathlib import Path

    from assay.probes.contract import Target

NO_KERNEL = (
    "time in the kernel: the kernel allows samples of user space only (kernel.perf_event_paranoid"
    " is above 1); `sudo sysctl kernel.perf_event_paranoid=1` allows more"
)

NO_PROCESS = (
    "CPU samples were asked for, but no process on this host is known to be the engine's: measure"
    " where the server runs, or without --dsn"
)


class ProfileProbe:
    """Samples the engine's call stacks by the kernel."""

    name = "profile"
    stream = "probe-profile"
    cost = "an interrupt, a copy of the stack and its unwinding at each sample"

    def __init__(self) -> None:
        self._profiler: Profiler | None = None
        self._engine: list[Started] = []
        self._facts: dict[str, Any] = {}
        self._file: Path | None = None

    def applies(self, target: Target) -> bool:
        """Return True if CPU samples were requested and the engine runs on this host."""
        return target.profile_hz is not None and bool(_engine_pids(target))

    def refusal(self, target: Target) -> str | None:
        """Return why requested CPU samples cannot be taken; None if they can."""
        if target.profile_hz is None or _engine_pids(target):
            return None
        return NO_PROCESS

    def start(self, target: Target) -> None:
        """Start CPU sampling, and wait until its first streams exist.

        Raises:
            OSError: If the kernel refuses. The error message says how to allow it.
        """
        frequency_hz = target.profile_hz or 0
        pids = _engine_pids(target)
        # Known by their start: at the end of sampling, other processes may have these pids.
        self._engine = [process for pid in pids if (process := find_started(pid))]
        self._profiler = Profiler(target.raw_dir, pids, frequency_hz)
        granted = self._profiler.granted()
        notes = [] if granted["kernel"] else [NO_KERNEL]
        self._facts = {**granted, "notes": notes}
        self._file = target.raw_dir / SAMPLING_FILE
        self._write()

    def stop(self) -> Cost:
        """End sampling, and resolve the names of all sampled functions."""
        if self._profiler is None:
            raise RuntimeError("probe profile was stopped before it was started")
        profiler, self._profiler = self._profiler, None
        with perf_maps(self._engine) as refusals:
            report = profiler.stop()
        self._facts["notes"] += refusals + report["notes"]
        self._write()
        return Cost(report["samples"], report["cpu_ns"], report["longest_ns"], report["error"], 1.0)

    def _write(self) -> None:
        if self._file is not None:
            write_json(self._file, self._facts)


def granted_here() -> dict[str, Any]:
    """Return what the kernel grants to a profiler here, after a trial on Assay's own process.

    Raises:
        OSError: If the kernel permits no CPU profile. The error message says how to permit one.
    """
    with tempfile.TemporaryDirectory() as folder:
        profiler = Profiler(folder, [os.getpid()], 499)
        granted = profiler.granted()
        profiler.stop()
    return dict(granted)


def _engine_pids(target: Target) -> list[int]:
    return [pid for pid, account in target.followed if account in ENGINE_ACCOUNTS]


probe = ProfileProbe
