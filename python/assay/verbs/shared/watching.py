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
    """A `Watcher`, and the teller of its runs."""

    def remark(self, text: str) -> None:
        """A sentence about the series, or about a run."""
        log.info("%s", text)

    @contextmanager
    def obtaining(self) -> Iterator[Logged]:
        """Engines are obtained within."""
        yield self

    @contextmanager
    def making(self, directory: Path, *, one_part: bool) -> Iterator[Logged]:
        """Runs are made within."""
        del one_part
        log.info("the runs are named in %s", directory)
        yield self

    def run(
        self, number: int, of: int, planned: Planned, left_s: float | None, budget_s: float | None
    ) -> None:
        """A run begins."""
        del left_s, budget_s
        log.info("%d of %d: %s %s", number, of, planned.part, planned.variant)

    def failed(self, reason: str) -> None:
        """The run that was under way failed."""
        log.warning("failed: %s", reason)

    def record(self, directory: Path) -> None:
        """The record of a run is there from now on."""
        log.info("its record is %s", directory)

    def phase(self, name: str, begun_s: float | None = None) -> None:
        """A new part of the run has begun."""
        del begun_s
        log.debug("%s", name)

    def amount(self, done: float, expected: float | None, unit: str) -> None:
        """Ignore the amount that is done: it changes too often for a log."""
