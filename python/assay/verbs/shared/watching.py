"""A watcher for callers without a terminal, which logs the progress of runs."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.study.variants import Planned

log = logging.getLogger(__name__)


class Logged:
    """A `Watcher` that also logs the progress of each run."""

    def remark(self, text: str) -> None:
        """Log a sentence about the series, or about a run."""
        log.info("%s", text)

    @contextmanager
    def obtaining(self) -> Iterator[Logged]:
        """Return the context in which engines are obtained."""
        yield self

    @contextmanager
    def making(self, directory: Path, *, one_part: bool) -> Iterator[Logged]:
        """Return the context in which runs are made."""
        del one_part
        log.info("the runs are named in %s", directory)
        yield self

    def run(
        self, number: int, of: int, planned: Planned, left_s: float | None, budget_s: float | None
    ) -> None:
        """Log that a run of the study begins."""
        del left_s, budget_s
        log.info("%d of %d: %s %s", number, of, planned.part, planned.variant)

    def failed(self, reason: str) -> None:
        """Log that the current run of the study failed."""
        log.warning("failed: %s", reason)

    def record(self, directory: Path) -> None:
        """Log the directory of a run's record, which exists from now on."""
        log.info("its record is %s", directory)

    def phase(self, name: str, begun_s: float | None = None) -> None:
        """Log that a new phase of the run has begun."""
        del begun_s
        log.debug("%s", name)

    def amount(self, done: float, expected: float | None, unit: str) -> None:
        """Ignore the amount of completed work, which changes too often for a log."""
