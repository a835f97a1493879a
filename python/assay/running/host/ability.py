"""Type for something that may or may not be possible on this host."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ability:
    """A kind of measurement that may be possible on this host or not.

    Attributes:
        name: Name of the ability.
        works: `yes`, `partly` or `no`.
        seen: Observation from the trial.
        mend: How to allow more; empty if nothing is missing, or if nothing can be done.
    """

    name: str
    works: str
    seen: str
    mend: str = ""
