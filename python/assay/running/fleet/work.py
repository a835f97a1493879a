"""Carries out an agent's work for a run in a thread, and sends its files.

Nothing remains after the work ends. Its processes are children of its own guardian, and its files
are in that guardian's directory.
"""

from __future__ import annotations

import os
import queue
import secrets
import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from assay.model.errors import AssayError, RunFailedError
from assay.running.fleet.contract import CANCEL, CHUNK_BYTES, FAILED
from assay.running.processes.launcher import Guardian

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Work(ABC):
    """A piece of an agent's work for a run, which begins when this object is made.

    Args:
        job: Request from the owner.
        post: Sends a message to the owner, waiting while the queue is full; returns False if the
            owner disconnected.
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
        """Pass on a message from the run to the work."""
        self._words.put(word)

    def abandon(self) -> None:
        """End the agent's work at once, because the run is gone."""
        self._words.put({"kind": CANCEL, "facts": {}})

    def join(self, timeout_s: float) -> None:
        """Wait until the agent's work has ended completely."""
        self._thread.join(timeout_s)

    @property
    def at_work(self) -> bool:
        """True while the agent's work continues."""
        return self._thread.is_alive()

    @abstractmethod
    def _carry_out(self, guardian: Guardian, raw: Path) -> None:
        """Carry out the agent's whole work, writing streams to `raw`.

        Raises `AssayError` or `OSError`.
        """

    def _work(self) -> None:
        try:
            with Guardian(f"fleet-{os.getpid()}-{secrets.token_hex(4)}") as guardian:
                raw = guardian.directory / "raw"
                raw.mkdir(mode=0o700)
                self._carry_out(guardian, raw)
        except AssayError as error:
            self._post({"kind": FAILED, "message": str(error), "exit_code": error.exit_code})
        except OSError as error:
            message = f"{error.strerror or error} ({error.filename})"
            code = RunFailedError.exit_code
            self._post({"kind": FAILED, "message": message, "exit_code": code})

    def _word(self, timeout_s: float = 0.0) -> dict[str, Any] | None:
        """Return the run's next message; None if there is none in time."""
        try:
            return self._words.get(timeout_s > 0, timeout_s)
        except queue.Empty:
            return None

    def _send_growth(self, path: Path, kind: str, name: str) -> bool:
        """Send new data of a file; return False if the run disconnected."""
        if not path.exists():
            return True
        with path.open("rb") as source:
            source.seek(self._sent.get(name, 0))
            while chunk := source.read(CHUNK_BYTES):
                if not self._post({"kind": kind, "name": name, "bytes": chunk}):
                    return False
                self._sent[name] = source.tell()
        return True
