"""The contract for showing the progress of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engines.contract import Tell


class Teller(Protocol):
    """Shows a user the progress of a run."""

    def record(self, directory: Path) -> None:
        """Report the run's directory, which exists from now on, however the run ends."""
        ...

    def phase(self, name: str, begun_s: float | None = None) -> None:
        """Report that a new part of the run began: now, or at a time of CLOCK_MONOTONIC."""
        ...

    def amount(self, done: float, expected: float | None, unit: str) -> None:
        """Show how much of the part is done."""
        ...


def telling(teller: Teller) -> Tell:
    """Return the teller in the form that engines use."""

    def tell(phase: str, done: float, expected: float | None, unit: str) -> None:
        teller.phase(phase)
        if unit:
            teller.amount(done, expected, unit)

    return tell
