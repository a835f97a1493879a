"""Shows the progress of a run: one line per phase; finished phases are reduced to their time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from assay.model.foreign_text import visible
from assay.model.units import count_text, seconds_text

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.status import Status

BAR_CELLS = 12
REDRAW_INTERVAL_S = 0.1
SHORTEST_S = 1e-6


class Progress:
    """Shows the progress of a run on a terminal."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._name: str | None = None
        self._begun_s = 0.0
        self._rows = 0.0
        self._redrawn_s = 0.0
        self._status: Status | None = None
        self.partial: Path | None = None

    def record(self, directory: Path) -> None:
        """Remember the run's directory, which exists from now on."""
        self.partial = directory

    def phase(self, name: str, begun_s: float | None = None) -> None:
        """Begin the display of a new phase, and end the previous one."""
        if name == self._name:
            return
        now_s = time.monotonic() if begun_s is None else begun_s
        self._fold(now_s)
        self._name, self._begun_s, self._rows = name, now_s, 0.0
        if self._console.is_terminal and not self._quiet:
            self._status = self._console.status(name, spinner="dots")
            self._status.start()

    def amount(self, done: float, expected: float | None, unit: str) -> None:
        """Show how much of the current phase is done."""
        seconds = time.monotonic() - self._begun_s
        if unit == "rows":
            self._rows = done
        if self._status is None or time.monotonic() - self._redrawn_s < REDRAW_INTERVAL_S:
            return
        self._redrawn_s = time.monotonic()
        self._status.update(f"{self._name}  {progress_text(done, expected, unit, seconds)}")

    def close(self) -> None:
        """End the display of the last phase."""
        self._fold(time.monotonic())
        self._name = None

    def _fold(self, ended_s: float) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None
        if self._name is None or self._quiet:
            return
        seconds = max(0.0, ended_s - self._begun_s)
        rows = ""
        if self._rows:
            rate = self._rows / max(seconds, SHORTEST_S)
            rows = f"{count_text(self._rows)} rows, {count_text(rate)} rows/s"
        line = f"  {self._name:<26}{seconds_text(seconds):>9}  {rows}".rstrip()
        self._console.print(visible(line), style="dim", markup=False)


def progress_text(done: float, expected: float | None, unit: str, seconds: float) -> str:
    """Return a bar, the amount, the rate and the remaining time, as far as known."""
    rate = done / seconds if seconds > 0 else 0.0
    if unit == "s":
        amount = f"{done:.0f} s" if expected is None else f"{done:.0f} of {expected:.0f} s"
        left = None if expected is None else max(0.0, expected - done)
    else:
        amount = (
            count_text(done)
            if expected is None
            else f"{count_text(done)} of {count_text(expected)}"
        )
        amount += f" {unit}  {count_text(rate)} {unit}/s"
        left = (expected - done) / rate if expected is not None and rate > 0 else None
    bar = ""
    if expected:
        cells = min(BAR_CELLS, round(BAR_CELLS * done / expected))
        bar = "█" * cells + "░" * (BAR_CELLS - cells) + "  "
    rest = "" if left is None else f"  {left // 60:02.0f}:{max(0.0, left) % 60:02.0f} left"
    return f"{bar}{amount}{rest}"
