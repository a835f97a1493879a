"""Runs probes on the engine's host in an agent, and sends their samples to the run.

The probes end when the owner disconnects.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from assay.engines.network.listening import listener
from assay.model.errors import RunFailedError
from assay.probes.contract import Target
from assay.probes.discovery import find_probes
from assay.record.layout import ACCOUNT_ENGINE, ACCOUNT_PROBES
from assay.running.fleet.contract import (
    ALIVE,
    BEGUN,
    CANCEL,
    GO,
    OBSERVED,
    READY,
    STREAM,
    TELL_INTERVAL_S,
    TOLD,
)
from assay.running.fleet.work import Work
from assay.running.host.environment import describe_host
from assay.running.observing import observed
from assay.running.processes.process_table import read_process

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.running.processes.launcher import Guardian
    from assay.running.processes.process_table import Process

WHO_MAY = "only an agent of root or of the server's user can see the server's process"


class Observing(Work):
    """Probes of an engine, run by the agent on its host.

    The job has `probes` (their names), `interval_s`, `pids` (of the engine; empty means they are
    searched for) and `port` (of the server; None if not known).
    """

    def _carry_out(self, guardian: Guardian, raw: Path) -> None:
        pids = engine_pids(self._job["port"], self._job["pids"])
        engine = [process for pid in pids if (process := read_process(pid))]
        followed = (*((pid, ACCOUNT_ENGINE) for pid in pids), (os.getpid(), ACCOUNT_PROBES))
        self._tell(
            {
                "kind": READY,
                "host": describe_host(guardian.directory),
                "accounts": {str(pid): account for pid, account in followed},
            }
        )
        if not self._goes_on_until(GO, raw):
            return
        check_still_runs(engine)
        probes = [probe for probe in find_probes() if probe.name in self._job["probes"]]
        probe_facts: dict[str, Any] = {}
        with observed(probes, Target(raw, self._job["interval_s"], followed), probe_facts):
            self._tell({"kind": BEGUN, "probes": probe_facts})
            self._goes_on_until(CANCEL, raw)
        self._send_streams(raw)
        self._tell({"kind": OBSERVED, "probes": probe_facts})

    def _goes_on_until(self, last: str, raw: Path) -> bool:
        """Send samples to the run until it sends a given message; False if the connection ends."""
        while True:
            word = self._word(TELL_INTERVAL_S)
            if word is not None:
                return bool(word["kind"] == last)
            if not (self._post({"kind": ALIVE}) and self._send_streams(raw)):
                return False

    def _send_streams(self, raw: Path) -> bool:
        return all(self._send_growth(path, STREAM, path.stem) for path in raw.glob("*.arrows"))

    def _tell(self, message: dict[str, Any]) -> None:
        self._post({"kind": TOLD, "message": message})


def check_still_runs(engine: Sequence[Process]) -> None:
    """Raise `RunFailedError` if a process has ended, also if another one has its pid now."""
    for process in engine:
        now = read_process(process.pid)
        if now is None or not now.alive or now.start_ticks != process.start_ticks:
            raise RunFailedError(
                f"the engine's process {process.pid} ended before the load began: measure again"
            )


def engine_pids(port: int | None, named: Sequence[int]) -> list[int]:
    """Return the engine's pids on the agent's host: the given ones, or the port's listener.

    Raises:
        RunFailedError: If no such process runs. The error message says what to do.
    """
    for pid in named:
        process = read_process(pid)
        if process is None or not process.alive:
            raise RunFailedError(f"no process {pid} runs on this host")
    if named:
        return list(named)
    if port is None:
        raise RunFailedError("the server's port is unknown: name its processes as NAME:PID,...")
    listener_pid = listener(port)
    if listener_pid is None:
        raise RunFailedError(
            f"no visible process on this host listens on port {port}: {WHO_MAY}; or name the "
            "server's processes as NAME:PID,..."
        )
    return [listener_pid]
