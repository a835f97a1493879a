"""Interface that shows the progress of a run to a user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engines.contract import Tell


class Teller(Protocol):
    """Shows the progress of a run to a user."""

    def record(self, directory: Path) -> None:
        """Report the directory of the run's record."""
        ...

    def phase(self, name: str, begun_s: float | None = None) -> None:
        """Report that a new phase of the run began."""
        ...

    def amount(self, done: float, expected: float | None, unit: str) -> None:
        """Show the progress of the run's current phase, as a done and an expected amount."""
        ...


def telling(teller: Teller) -> Tell:
    """Return a function that reports progress, in the form that engines use."""

    def tell(phase: str, done: float, expected: float | None, unit: str) -> None:
        teller.phase(phase)
        if unit:
            teller.amount(done, expected, unit)

    return tell
