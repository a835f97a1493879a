"""Verdicts over one run: valid < unknown < invalid, and the worst wins."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

VerdictWord = Literal["valid", "unknown", "invalid"]
VERDICT_WORDS: tuple[VerdictWord, ...] = ("valid", "unknown", "invalid")


# How a reason begins of answers that nothing was there to compare with.
NOT_COMPARED = "not compared: "


class Verdict(IntEnum):
    """The degree to which a run's numbers can be trusted."""

    VALID = 0
    UNKNOWN = 1
    INVALID = 2

    @property
    def word(self) -> VerdictWord:
        """The word that people and programs read."""
        return VERDICT_WORDS[self]


@dataclass(frozen=True)
class CheckResult:
    """The result of one check.

    Attributes:
        check: Name of the check.
        verdict: What it means for the run.
        reason: One sentence: what was seen (with the number), what it means, what to do.
        measured: False where nothing could be measured and nothing had to be; the verdict is then
            valid and the reason says why there is no measurement.
        value: The number that was compared, where there is one.
        threshold: The number it was compared with.
    """

    check: str
    verdict: Verdict
    reason: str
    measured: bool = True
    value: float | None = None
    threshold: float | None = None

    @property
    def of_answers(self) -> Verdict:
        """The verdict on the answers: unknown if there was nothing to compare them with.

        The run itself is valid then: it was measured correctly.
        """
        lacking = not self.measured and self.reason.startswith(NOT_COMPARED)
        return Verdict.UNKNOWN if lacking else self.verdict


def worst(results: Iterable[CheckResult]) -> Verdict:
    """The verdict of a run: the worst of its checks, unknown where there were none."""
    return max((result.verdict for result in results), default=Verdict.UNKNOWN)
