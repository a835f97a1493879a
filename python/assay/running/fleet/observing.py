"""Runs probes on the engine's host on the agent's side, and sends their samples to the owner.

The probes end when the owner disconnects.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from assay.engines.listening import listener
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
from assay.running.processes.guardian import read_process

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.running.processes.launcher import Guardian

WHO_MAY = "this takes an agent that may see the server's process: that of root, or of its user"


class Observing(Work):
    """Probes of an engine on this host.

    The job has `probes` (their names), `interval_s`, `pids` (of the engine; empty means they are
    searched for) and `port` (of the server; None if not known).
    """

    def _carry_out(self, guardian: Guardian, raw: Path) -> None:
        pids = engine_pids(self._job["port"], self._job["pids"])
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
        probes = [probe for probe in find_probes() if probe.name in self._job["probes"]]
        probe_facts: dict[str, Any] = {}
        with observed(probes, Target(raw, self._job["interval_s"], followed), probe_facts):
            self._tell({"kind": BEGUN, "probes": probe_facts})
            self._goes_on_until(CANCEL, raw)
        self._send_streams(raw)
        self._tell({"kind": OBSERVED, "probes": probe_facts})

    def _goes_on_until(self, last: str, raw: Path) -> bool:
        """Send samples until a given message arrives; False if the work must end before that."""
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


def engine_pids(port: int | None, named: Sequence[int]) -> list[int]:
    """Return the engine's processes on this host: the named ones, or the listener on its port.

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
        raise RunFailedError("the server's port is not known; name its processes as NAME:PID,...")
    listener_pid = listener(port)
    if listener_pid is None:
        raise RunFailedError(
            f"no process is seen on this host that listens on port {port}:"
            f" {WHO_MAY}; or name its processes as NAME:PID,..."
        )
    return [listener_pid]
