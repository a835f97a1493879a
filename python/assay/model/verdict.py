"""Verdicts on a run: valid < unknown < invalid.

The verdict on a run is the worst verdict of its checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

VerdictWord = Literal["valid", "unknown", "invalid"]
VERDICT_WORDS: tuple[VerdictWord, ...] = ("valid", "unknown", "invalid")


# Prefix of the reason for answers that have no rows to compare with.
NOT_COMPARED = "not compared: "


class Verdict(IntEnum):
    """The verdict on a run's numbers: valid, unknown or invalid."""

    VALID = 0
    UNKNOWN = 1
    INVALID = 2

    @property
    def word(self) -> VerdictWord:
        """The verdict as a word: `valid`, `invalid` or `unknown`."""
        return VERDICT_WORDS[self]


@dataclass(frozen=True)
class CheckResult:
    """The result of one check of a run.

    Attributes:
        check: Name of the check.
        verdict: Verdict on the run by this check.
        reason: One sentence with the observed number, its meaning, and what to do.
        measured: False if the check had nothing to measure. The verdict is then valid, and the
            reason says why there is no measurement.
        value: The measured number; None if the check has no number.
        threshold: Limit of the measured number.
    """

    check: str
    verdict: Verdict
    reason: str
    measured: bool = True
    value: float | None = None
    threshold: float | None = None

    @property
    def of_answers(self) -> Verdict:
        """Return the verdict on a run's query results: unknown if they could not be compared.

        The run itself is still valid then, because it was measured correctly.
        """
        lacking = not self.measured and self.reason.startswith(NOT_COMPARED)
        return Verdict.UNKNOWN if lacking else self.verdict


def worst(results: Iterable[CheckResult]) -> Verdict:
    """Return the verdict of a run: the worst of its checks; unknown without checks."""
    return max((result.verdict for result in results), default=Verdict.UNKNOWN)
