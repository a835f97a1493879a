"""Kills an engine under load, at one moment of the measured part."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Any

from assay.model.errors import RunFailedError, UsageError
from assay.record.layout import PHASE_MEASURED
from assay.running.processes.process_table import (
    Process,
    live_descendants,
    read_process,
    send_signal,
)
from assay.workloads.discovery import find_workloads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.record.writer import RunWriter
    from assay.running.asked.request import RunRequest
    from assay.running.server.subject import Subject
    from assay.workloads.contract import Workload

KILL = "kill"
GONE_PATIENCE_S, LOOK_S = 10.0, 0.001


def check_faults(request: RunRequest, workload: Workload) -> None:
    """Refuse a requested kill or snapshots that are impossible in the run.

    Raises:
        UsageError: If the run does not support them. The error message says what to change.
    """
    if request.kill_s is not None and request.copies:
        raise UsageError(
            "--kill and --copies: a killed engine writes no data to copy: remove one of the two"
        )
    if request.copies:
        _check_receipts("--copies", workload)
    if request.kill_s is None:
        return
    _check_receipts("--kill", workload)
    if request.dsn is not None:
        raise UsageError("--kill: Assay does not kill a running server: remove --kill or --dsn")
    if request.slow:
        raise UsageError(
            "--kill and --slow: --slow pauses the engine again and again, which would disturb "
            "--kill: remove one of the two"
        )
    if request.kill_s >= request.time_s:
        raise UsageError(
            f"--kill {request.kill_s:g}s: the load ends after {request.time_s:g} s: use a "
            "longer --time, or an earlier --kill"
        )


def _check_receipts(option: str, workload: Workload) -> None:
    receipt = workload.facts.receipt
    if receipt is None or receipt.operation not in workload.facts.order:
        able = [
            name for name, folder in find_workloads().items() if folder.facts.receipt is not None
        ]
        raise UsageError(
            f"{option}: the workload {workload.facts.name} declares no receipts, so lost writes "
            f"cannot be found: name one of {', '.join(able)}"
        )


class Kill:
    """One kill of the engine, `after_s` seconds after the measured part began."""

    def __init__(self, after_s: float, run: RunWriter) -> None:
        self._after_s = after_s
        self._run = run
        self._at_s: float | None = None
        self.done = False

    def hear(self, message: dict[str, Any]) -> None:
        """Compute the time to kill the engine, from the driver's message that a phase started."""
        if self._at_s is None and message.get("phase") == PHASE_MEASURED:
            self._at_s = float(message["begun_s"]) + self._after_s

    @property
    def due_in_s(self) -> float | None:
        """Return seconds until the kill is due; None if it is done or not yet known."""
        if self._at_s is None or self.done:
            return None
        return max(0.0, self._at_s - time.monotonic())

    def strike(self, subject: Subject, driver_pids: Sequence[int]) -> None:
        """Kill every process of the engine, and return when none is left.

        An embedded engine is killed together with the driver's process.

        Raises:
            RunFailedError: If the engine has no process, or a process does not end.
        """
        self.done = True
        roots = tuple(driver_pids) if subject.embedded else subject.pids
        begun_ns = time.monotonic_ns()
        killed = [process for root in roots for process in _killed(root)]
        if not killed:
            raise RunFailedError("the engine ended by itself before --kill was due")
        _await_gone(killed)
        self._run.update(
            fault={
                "kind": KILL,
                "signal": "SIGKILL",
                "asked_s": self._after_s,
                "at_ns": begun_ns,
                "gone_ns": time.monotonic_ns(),
                "pids": [process.pid for process in killed],
                "with_driver": subject.embedded,
            }
        )

    def check(self) -> None:
        """Raise `RunFailedError` if the load ended before the engine was killed."""
        if not self.done:
            raise RunFailedError(
                f"the load ended before --kill was due, {self._after_s:g} s after the load began"
            )


def _killed(root: int) -> list[Process]:
    """Kill a process and all its descendants.

    The root is stopped first, so that it starts no other process, and killed last, so that its
    children do not notice its end and disconnect their clients in order.
    """
    # Processes that Assay started are its descendants; a process that reuses the pid is not.
    process = next((p for p in live_descendants(os.getpid()) if p.pid == root), None)
    # If it just ended, what is below the pid may belong to another process.
    if process is None or not send_signal(process, signal.SIGSTOP):
        return []
    processes = [*live_descendants(root), process]
    return [process for process in processes if send_signal(process, signal.SIGKILL)]


def _await_gone(processes: list[Process]) -> None:
    deadline_s = time.monotonic() + GONE_PATIENCE_S
    for process in processes:
        while (
            (now := read_process(process.pid))
            and now.start_ticks == process.start_ticks
            and now.alive
        ):
            if time.monotonic() > deadline_s:
                raise RunFailedError(
                    f"process {process.pid} did not end within {GONE_PATIENCE_S:.0f} s of SIGKILL:"
                    " it waits inside the kernel, mostly for a disk"
                )
            time.sleep(LOOK_S)
