"""Shows the progress of a study: one line per run, with the phases of the current one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from assay.cli.shared.progress import REDRAW_INTERVAL_S
from assay.model.foreign_text import visible
from assay.model.units import count_text, seconds_text

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.status import Status

    from assay.study.variants import Planned

WIDTH = 40


class StudyProgress:
    """Shows the progress of a study on a terminal, one line per run."""

    def __init__(self, shown: Console, *, one_part: bool = True) -> None:
        self._console = shown
        self._one_part = one_part
        self._remark: str | None = None
        self._run: str | None = None
        self._left_s: float | None = None
        self._budget_s: float | None = None
        self._phase = ""
        self._begun_s = self._redrawn_s = 0.0
        self._status: Status | None = None
        self.partial: Path | None = None

    def run(
        self, number: int, of: int, planned: Planned, left_s: float | None, budget_s: float | None
    ) -> None:
        """Begin the line of a new run."""
        self.close()
        name = planned.variant if self._one_part else f"{planned.part}  {planned.variant}"
        self._run, self._begun_s = f"{number} of {of}  {name}", time.monotonic()
        self._left_s, self._budget_s = left_s, budget_s
        if self._console.is_terminal:
            self._status = self._console.status(self._run, spinner="dots")
            self._status.start()

    def failed(self, reason: str) -> None:
        """Mark the current run as failed."""
        self.remark(f"failed: {reason}")
        self.close()

    def remark(self, text: str) -> None:
        """Print a remark below the line of the run, after its end."""
        self._remark = " ".join(text.split())

    def record(self, directory: Path) -> None:
        """Remember the record of the run, which exists from now on."""
        self.partial = directory

    def phase(self, name: str, begun_s: float | None = None) -> None:
        """Show that a new phase of the current run has begun."""
        del begun_s
        if name != self._phase:
            self._phase = name
            self._draw("")

    def amount(self, done: float, expected: float | None, unit: str) -> None:
        """Show how much of the current phase is done."""
        if time.monotonic() - self._redrawn_s >= REDRAW_INTERVAL_S:
            of = "" if expected is None else f" of {count_text(expected)}"
            self._draw(f"{count_text(done)}{of} {unit}")

    def close(self) -> None:
        """End the display of the last run."""
        if self._status is not None:
            self._status.stop()
            self._status = None
        if self._run is not None:
            took = seconds_text(time.monotonic() - self._begun_s)
            line = f"  {self._run:<{WIDTH}}{took:>9}{self._left()}"
            self._console.print(visible(line), style="dim", markup=False, soft_wrap=True)
        if self._remark is not None:
            self._console.print(
                visible(f"    {self._remark}"), style="red", markup=False, soft_wrap=True
            )
        self._run = self._remark = None

    def _draw(self, amount: str) -> None:
        self._redrawn_s = time.monotonic()
        if self._status is not None:
            from rich.text import Text

            self._status.update(Text(f"{self._run}  {self._phase}  {amount}{self._left()}"))

    def _left(self) -> str:
        """Return text on the remaining time of the study, and its budget."""
        took_s = time.monotonic() - self._begun_s
        text = "" if self._left_s is None else f"  {_clock(max(0.0, self._left_s - took_s))} left"
        if self._budget_s is None:
            return text
        return f"{text}  budget {_clock(max(0.0, self._budget_s - took_s))}"


def _clock(seconds: float) -> str:
    """Return a duration as hours (if any), minutes and seconds."""
    hours, rest = divmod(round(seconds), 3600)
    return f"{f'{hours}:' if hours else ''}{rest // 60:02d}:{rest % 60:02d}"
