"""Drives one host's share of a load in an agent, and sends its data to the run.

The load stops when the owner disconnects.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.model.errors import RunFailedError
from assay.running.fleet.contract import (
    ALIVE,
    CANCEL,
    DRIVEN,
    FILE,
    GATE,
    HOST_LOG,
    PLANNED,
    PROGRESS,
    STREAM,
    STREAMS,
    TELL_INTERVAL_S,
    TOLD,
)
from assay.running.fleet.work import Work
from assay.running.processes.hosting import Host, host

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.running.processes.launcher import Guardian

LOOK_S = 0.05
# Maximum seconds for a driver to write its data after it was told to end.
CANCEL_PATIENCE_S = 20.0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Driving(Work):
    """One host's share of a load, driven by a separate process."""

    def _carry_out(self, guardian: Guardian, raw: Path) -> None:
        job = self._job | {"raw_dir": str(raw)}
        if "address" not in job:
            # An engine without data runs in each driver.
            job |= {name: str(guardian.directory / name) for name in ("data", "scratch")}
        with host(guardian, "drive", job, raw / HOST_LOG) as driver:
            try:
                self._play(driver, raw)
            finally:
                self._send_streams(raw)
                self._send_files(raw)

    def _play(self, driver: Host, raw: Path) -> None:
        """Forward messages between run and driver until the driver has sent all of its own."""
        last = PLANNED if self._job["plans"] else DRIVEN
        give_up_s: float | None = None
        while True:
            while (word := self._word()) is not None:
                if word["kind"] == CANCEL and give_up_s is None:
                    give_up_s = time.monotonic() + CANCEL_PATIENCE_S
                    last = DRIVEN
                driver.send(word["kind"], **word["facts"])
            message = driver.next_within(LOOK_S)
            if message is not None:
                if message["kind"] in (DRIVEN, PLANNED):
                    self._send_streams(raw)
                    self._send_files(raw)
                self._tell(message, driver)
                if message["kind"] == last or (give_up_s is not None and _is_last(message)):
                    return
            if time.monotonic() - self._told_s >= TELL_INTERVAL_S:
                self._told_s = time.monotonic()
                heard = self._post({"kind": ALIVE}) and self._send_streams(raw)
                if not heard and give_up_s is None:
                    self.abandon()
            if give_up_s is not None and time.monotonic() > give_up_s:
                raise RunFailedError("the driver did not end on request")

    def _tell(self, message: dict[str, Any], driver: Host) -> None:
        if message["kind"] in (GATE, DRIVEN, PROGRESS):
            used = {"driver": cpu_seconds(driver.pid), "agent": time.process_time()}
            message = message | {"cpu_s": used}
        if message["kind"] == "ready":
            message = message | {"pid": driver.pid}
        self._post({"kind": TOLD, "message": message})

    def _send_streams(self, raw: Path) -> bool:
        """Send new data of the record's streams; return False if the run disconnected."""
        return all(
            self._send_growth(raw / f"{name}.arrows", STREAM, name) for name in STREAMS
        ) and self._send_growth(raw / HOST_LOG, FILE, HOST_LOG)

    def _send_files(self, raw: Path) -> None:
        """Send files that are written once: query results and plans."""
        for path in _files(raw):
            if not self._send_growth(path, FILE, str(path.relative_to(raw))):
                return


def _is_last(message: dict[str, Any]) -> bool:
    return message["kind"] in (DRIVEN, PLANNED)


def _files(raw: Path) -> Iterator[Path]:
    for directory in ("results", "plans"):
        # Files that end with `.partial` are incomplete.
        files = (path for path in (raw / directory).rglob("*") if path.is_file())
        yield from sorted(path for path in files if path.suffix != ".partial")


def cpu_seconds(pid: int) -> float | None:
    """Return the CPU seconds that a process has used; None if it ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S
