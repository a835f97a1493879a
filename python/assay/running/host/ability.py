"""One thing that may or may not be possible on this host."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ability:
    """One thing that may or may not be possible here.

    Attributes:
        name: Name of the ability.
        works: `yes`, `partly` or `no`.
        seen: Observation of the trial.
        mend: How to allow more; empty if nothing is missing, or nothing can be done.
    """

    name: str
    works: str
    seen: str
    mend: str = ""
