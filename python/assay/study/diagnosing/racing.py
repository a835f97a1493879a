"""Changes that are being tried in the rounds of one step, and the choice of the best one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.analysis.diagnose.judging import ALPHA, TRIED_ROUNDS_MAX
from assay.analysis.diagnose.way import Tried
from assay.report.diagnosis.spoiling import spoiled_by_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analysis.diagnose.judging import CauseVerdict, Judgement
    from assay.record.reader import Run
    from assay.study.diagnosing.candidates import Candidate

# Number of rounds after which a step with a confirmed cause does not wait for a cause that seems
# larger.
ROUNDS_ENOUGH = 6
# The variation of fewer rounds does not tell how many rounds a verdict will need.
ROUNDS_TO_PREDICT = 4
# Minimum rounds for a verdict: the next step would need as many for a cause that this step drops.
ROUNDS_MIN = 3
# Extra time, as a share, with which a change seems useless after one round and after two.
LOSS_OF_FEW = {1: 2.0, 2: 0.8}
# Rounds without a verdict in sight in trials that are not about a gain: of a slowed resource,
# whose effect is large where it counts, and of a run without a kept change.
AIMLESS_ROUNDS_MAX = 5
# Part of the error probability for changes that no finding advises.
FURTHER_PART = 0.2


@dataclass
class Racing:
    """A change that is being tried, with its rounds so far.

    `alpha` is the probability of a wrong verdict on each of its causes.
    `verdicts` has the judgement of each of its causes, by the cause's place, with the number of
    rounds that it is based on. A verdict that was reached stays, because more rounds can only make
    it less clear.
    """

    candidate: Candidate
    alpha: float
    rounds: list[tuple[Run, Run]] = field(default_factory=list)
    failed: str | None = None
    verdicts: dict[int, tuple[Judgement, int]] = field(default_factory=dict)
    _checked: int = 0
    _is_spoiled: bool = False

    @property
    def is_over(self) -> bool:
        """Return True if the trial of the change needs no more runs."""
        if self.failed is not None or len(self.rounds) >= TRIED_ROUNDS_MAX:
            return True
        is_aimless = len(self.rounds) >= AIMLESS_ROUNDS_MAX and not self.is_hopeful
        if is_aimless and not self._is_about_gain:
            return True
        return bool(self.verdicts) and not self.open_places

    @property
    def rounds_left(self) -> float:
        """Return the number of rounds until the next verdict; infinity if it is not in sight."""
        judged = [self.verdicts[place][0] for place in self.open_places if place in self.verdicts]
        needed = [judgement.rounds_needed for judgement in judged]
        soonest = min((rounds for rounds in needed if rounds is not None), default=math.inf)
        return soonest - len(self.rounds) if soonest <= TRIED_ROUNDS_MAX else math.inf

    @property
    def is_hopeful(self) -> bool:
        """Return True if a verdict is in sight and may be a gain, or it is too early to predict."""
        if self._seems_useless:
            return False
        return len(self.rounds) < ROUNDS_TO_PREDICT or self.rounds_left < math.inf

    @property
    def _seems_useless(self) -> bool:
        """Return True if the rounds so far show less than half of the smallest gain that counts.

        With fewer than three rounds, only a loss that noise hardly explains counts.
        """
        if not self.rounds or not self._is_about_gain:
            return False
        judged = [self.verdicts[place][0] for place in self.open_places if place in self.verdicts]
        least = -LOSS_OF_FEW.get(len(self.rounds), -self.candidate.gain_min / 2)
        return all(one.gain is not None and one.gain.share < least for one in judged)

    @property
    def _is_about_gain(self) -> bool:
        return self.candidate.slowing is None and self.candidate.takes_back is None

    @property
    def open_places(self) -> list[int]:
        """Return the places of the causes without a verdict."""
        places = range(len(self.candidate.causes))
        return [place for place in places if self._verdict(place) in (None, "undecided")]

    @property
    def best_place(self) -> int | None:
        """Return the place of the confirmed cause without which most time is saved, or None."""
        confirmed = [place for place in self.verdicts if self._verdict(place) == "confirmed"]
        return max(confirmed, key=self.saved_s, default=None)

    def _verdict(self, place: int) -> CauseVerdict | None:
        return self.verdicts[place][0].verdict if place in self.verdicts else None

    def saved_s(self, place: int) -> float:
        """Return the seconds of a round that are saved without the cause of a place."""
        return self.verdicts[place][0].saved_s

    def spoils(self) -> bool:
        """Return True if the change makes an answer wrong, or an operation fail, in a round."""
        new, self._checked = self.rounds[self._checked :], len(self.rounds)
        self._is_spoiled |= spoiled_by_change(new) is not None
        return self._is_spoiled

    def tried(self) -> list[Tried]:
        """Return the results of the rounds, one for each cause; empty without a round."""
        change, kind = self.candidate.change, self.candidate.kind
        return [
            Tried(
                self.candidate.causes[place],
                change,
                kind,
                judgement,
                tuple(self.rounds[:count]),
                self.candidate.takes_back,
            )
            for place, (judgement, count) in sorted(self.verdicts.items())
        ]


@dataclass(frozen=True)
class Trials:
    """The trials of a step, in the order in which they begin.

    Attributes:
        advised: Changes that findings advise, or the slowed resource.
        further: Changes that no finding advises.
        superfluous: Runs without a kept change.
    """

    advised: tuple[Racing, ...]
    further: tuple[Racing, ...]
    superfluous: tuple[Racing, ...] = ()


def trials(
    advised: Sequence[Candidate],
    further: Sequence[Candidate],
    superfluous: Sequence[Candidate] = (),
) -> Trials:
    """Return the trials of a step, which share the error probability, whenever each begins.

    The changes that no finding advises have a small part of it, because their gain must be large.
    So have those that leave out a kept change; a resource that is slowed after them has the rest.
    """
    whole = ALPHA
    if superfluous:
        whole -= FURTHER_PART * ALPHA
    part = FURTHER_PART if advised and further else float(not advised)
    return Trials(
        _of_equal_alpha(advised, (1 - part) * whole),
        _of_equal_alpha(further, part * whole),
        _of_equal_alpha(superfluous, ALPHA - whole),
    )


def _of_equal_alpha(candidates: Sequence[Candidate], alpha: float) -> tuple[Racing, ...]:
    causes = max(1, sum(len(candidate.causes) for candidate in candidates))
    return tuple(Racing(candidate, alpha / causes) for candidate in candidates)


def on_course(racing: Sequence[Racing]) -> list[Racing]:
    """Return the trials that take part in the next round.

    A trial whose verdict is not in sight pauses while there are others, which get a verdict sooner.
    """
    return hopeful(racing) or [racer for racer in racing if not racer.is_over]


def hopeful(racing: Sequence[Racing]) -> list[Racing]:
    """Return the trials that go on and have a verdict in sight."""
    return [racer for racer in racing if racer.is_hopeful and not racer.is_over]


def is_worth_waiting(racer: Racing, best: Racing, round_: int) -> bool:
    """Return True if a trial should go on although a change can be adopted.

    The next step tries its causes again, from the first round. So a step waits for verdicts that
    are as near, and for a while for causes that seem to be larger than the confirmed one.
    """
    if racer.rounds_left <= ROUNDS_MIN:
        return True
    if not racer.is_hopeful or round_ >= ROUNDS_ENOUGH:
        return False
    assert best.best_place is not None  # noqa: S101 - `best_of` returns changes with one
    most_s = max(
        (racer.saved_s(place) for place in racer.open_places if place in racer.verdicts),
        default=0.0,
    )
    return most_s > best.saved_s(best.best_place)


def best_of(racing: Sequence[Racing]) -> Racing | None:
    """Return the change that saves most of a confirmed cause, with right answers; None without.

    A change that leaves out a superfluous one need not save time.
    """
    saving = {
        number: racer.saved_s(place)
        for number, racer in enumerate(racing)
        if racer.candidate.stays
        and (place := racer.best_place) is not None
        and (racer.saved_s(place) > 0 or racer.candidate.takes_back is not None)
        and not racer.spoils()
    }
    best = max(saving, key=lambda number: saving[number], default=None)
    return None if best is None else racing[best]


def kept_of(racer: Racing) -> Tried | None:
    """Return the result of a change for the cause without which most time is saved."""
    return None if racer.best_place is None else racer.tried()[racer.best_place]
