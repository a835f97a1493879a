"""Whether a run's findings name what was planted, and at which rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.planted.plants import Plant

# A cause that is named this late or earlier is named.
RANK_MAX = 2


@dataclass(frozen=True)
class Naming:
    """A finding that names the cause.

    Attributes:
        rank: Among findings that tell causes, from 1; the headline's is 1.
        method: By which it was found.
        effect_share: How much of the run's time it says that the cause is.
        claim: Its words.
    """

    rank: int
    method: str
    effect_share: float
    claim: str


Findings = Sequence[dict[str, Any]]


def causes(findings: Findings) -> list[dict[str, Any]]:
    """Findings that tell causes, in the report's order."""
    return [finding for finding in findings if finding["tells"] == "cause"]


def named(plant: Plant, findings: Findings) -> Naming | None:
    """What names the plant first: the headline, where it is what was planted, or a cause."""
    for finding in findings:
        if finding["tells"] == "bound" and _begins(finding["claim"], plant.bound):
            return _naming(1, finding)
    for rank, finding in enumerate(causes(findings), 1):
        if finding["method"] in plant.methods:
            return _naming(rank, finding)
    return None


def _begins(claim: str, words: Sequence[str]) -> bool:
    return claim.lower().startswith(tuple(word.lower() for word in words))


def _naming(rank: int, finding: dict[str, Any]) -> Naming:
    return Naming(rank, finding["method"], finding["effect_share"], finding["claim"])
