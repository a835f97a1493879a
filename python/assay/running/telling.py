"""The contract for showing the progress of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engines.contract import Tell


class Teller(Protocol):
    """Shows a person the progress of a run."""

    def record(self, directory: Path) -> None:
        """The run's directory is there from now on, however the run ends."""
        ...

    def phase(self, name: str, begun_s: float | None = None) -> None:
        """A new part of the run has begun: now, or at a moment of CLOCK_MONOTONIC."""
        ...

    def amount(self, done: float, expected: float | None, unit: str) -> None:
        """Show how much of the part is done."""
        ...


def telling(teller: Teller) -> Tell:
    """The teller as engines know it."""

    def tell(phase: str, done: float, expected: float | None, unit: str) -> None:
        teller.phase(phase)
        if unit:
            teller.amount(done, expected, unit)

    return tell
