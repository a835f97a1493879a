"""One host's share of a run, on the agent's side: a driver's host, and what it writes sent along.

Invariant: whoever stops listening stops the load. Nothing of a share outlives it: the driver's host
is a child of a guardian of its own, and what it wrote is in that guardian's directory.
"""

from __future__ import annotations

import os
import queue
import secrets
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.model.errors import AssayError, RunFailedError
from assay.study.fleet.contract import (
    ALIVE,
    CANCEL,
    CHUNK_BYTES,
    DRIVEN,
    FAILED,
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
from assay.study.hosting import Host, host
from assay.study.launcher import Guardian

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOK_S = 0.05
# How long a driver that was asked to end may take to write what it saw.
CANCEL_PATIENCE_S = 20.0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Driving:
    """A share that is driven by a thread of its own.

    Args:
        job: What the driver's host is told, but for its directories.
        post: Sends a message to the owner, waiting while many wait; False: nobody listens.
    """

    def __init__(self, job: dict[str, Any], post: Callable[[dict[str, Any]], bool]) -> None:
        self._job = job
        self._post = post
        self._words: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._sent: dict[str, int] = {}
        self._told_s = 0.0
        self._thread = threading.Thread(target=self._work, name="assay-share", daemon=True)
        self._thread.start()

    def say(self, word: dict[str, Any]) -> None:
        """A word of the owner's for the driver's host."""
        self._words.put(word)

    def abandon(self) -> None:
        """Nobody listens any more: the load ends at once."""
        self._words.put({"kind": CANCEL, "facts": {}})

    def join(self, timeout_s: float) -> None:
        """Waits until nothing of the share is left."""
        self._thread.join(timeout_s)

    @property
    def at_work(self) -> bool:
        """Whether something of it is left."""
        return self._thread.is_alive()

    def _work(self) -> None:
        try:
            with Guardian(f"fleet-{os.getpid()}-{secrets.token_hex(4)}") as guardian:
                raw = guardian.directory / "raw"
                raw.mkdir(mode=0o700)
                self._drive(guardian, raw)
        except AssayError as error:
            self._post({"kind": FAILED, "message": str(error), "exit_code": error.exit_code})
        except OSError as error:
            message = f"{error.strerror or error} ({error.filename})"
            code = RunFailedError.exit_code
            self._post({"kind": FAILED, "message": message, "exit_code": code})

    def _drive(self, guardian: Guardian, raw: Path) -> None:
        job = self._job | {"raw_dir": str(raw)}
        if "address" not in job:
            # An engine without data lives in each driver.
            job |= {name: str(guardian.directory / name) for name in ("data", "scratch")}
        with host(guardian, "drive", job, raw / HOST_LOG) as driver:
            try:
                self._play(driver, raw)
            finally:
                self._send_streams(raw)
                self._send_files(raw)

    def _play(self, driver: Host, raw: Path) -> None:
        """Hands words on in both directions until the driver has nothing left to tell."""
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
                raise RunFailedError("the driver did not end when it was asked to")

    def _word(self) -> dict[str, Any] | None:
        try:
            return self._words.get_nowait()
        except queue.Empty:
            return None

    def _tell(self, message: dict[str, Any], driver: Host) -> None:
        if message["kind"] in (GATE, DRIVEN, PROGRESS):
            used = {"driver": cpu_seconds(driver.pid), "agent": time.process_time()}
            message = message | {"cpu_s": used}
        if message["kind"] == "ready":
            message = message | {"pid": driver.pid}
        self._post({"kind": TOLD, "message": message})

    def _send_streams(self, raw: Path) -> bool:
        """Sends what streams grew by since; False: nobody listens."""
        return all(
            self._send_growth(raw / f"{name}.arrows", STREAM, name) for name in STREAMS
        ) and self._send_growth(raw / HOST_LOG, FILE, HOST_LOG)

    def _send_files(self, raw: Path) -> None:
        """Sends what is written once: rows of results, plans."""
        for path in _files(raw):
            if not self._send_growth(path, FILE, str(path.relative_to(raw))):
                return

    def _send_growth(self, path: Path, kind: str, name: str) -> bool:
        if not path.exists():
            return True
        with path.open("rb") as source:
            source.seek(self._sent.get(name, 0))
            while chunk := source.read(CHUNK_BYTES):
                if not self._post({"kind": kind, "name": name, "bytes": chunk}):
                    return False
                self._sent[name] = source.tell()
        return True


def _is_last(message: dict[str, Any]) -> bool:
    return message["kind"] in (DRIVEN, PLANNED)


def _files(raw: Path) -> Iterator[Path]:
    for directory in ("results", "plans"):
        # What ends in `.partial` was not finished.
        found = (path for path in (raw / directory).rglob("*") if path.is_file())
        yield from sorted(path for path in found if path.suffix != ".partial")


def cpu_seconds(pid: int) -> float | None:
    """CPU time that a process has used so far; None: it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S
