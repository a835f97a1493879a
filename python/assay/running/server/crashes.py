"""Restarts a private server that crashed under load, so that the run continues."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from assay.model.errors import AssayError, RunFailedError

if TYPE_CHECKING:
    from assay.record.writer import RunWriter
    from assay.running.server.subject import Subject

log = logging.getLogger(__name__)

# Maximum number of restarts, because a query that crashes the server each time would take hours.
CRASHES_MAX = 25


class Crashes:
    """The crashes of one run's private server."""

    def __init__(self, title: str, run: RunWriter) -> None:
        self._title = title
        self._run = run
        self._noted: list[dict[str, Any]] = []

    def look(self, subject: Subject) -> None:
        """Restart a server that crashed, if its engine supports this.

        Raises:
            RunFailedError: If the server cannot be restarted, or died too often.
        """
        last_words = subject.last_words()
        if last_words is None:
            return
        if subject.revive is None:
            raise RunFailedError(f"{self._title} ended unexpectedly: {last_words}")
        crash = {"noticed_ns": time.monotonic_ns(), "words": last_words, "seconds": None}
        self._noted.append(crash)
        self._run.update(crashes=self._noted)
        if len(self._noted) > CRASHES_MAX:
            raise RunFailedError(
                f"{self._title} ended unexpectedly {len(self._noted)} times, so the run ends: "
                f"{last_words}"
            )
        log.warning("%s ended unexpectedly and is restarted: %s", self._title, last_words)
        begun_s = time.monotonic()
        try:
            subject.revive()
        except AssayError as error:
            raise RunFailedError(
                f"{self._title} ended unexpectedly ({last_words}) and cannot be restarted: {error}"
            ) from error
        crash["seconds"] = time.monotonic() - begun_s
        self._run.update(crashes=self._noted)
