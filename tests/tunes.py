"""Tunes whose best setting is known: runs that take what a formula says, with noise and drift."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from assay.analysis.tune.search import Trial, setting_words
from assay.running.asked.request import RunRequest
from assay.study.tuning.knobs import SearchedKnob
from assay.study.tuning.planning import Left, Tune
from assay.study.variants import Part

# Seconds of a setting, by its knobs; the default has none. None: such a run fails.
Truth = Callable[[Mapping[str, str]], float | None]
MEMORY = SearchedKnob("work_mem", (), 1, 1024, "MB", whole=True, logarithmic=True)
WORKERS = SearchedKnob("workers", ("0", "1", "2", "4"))
KNOBS = (MEMORY, WORKERS)
# By how much everything takes longer and shorter in the course of a tune, and after how many runs.
DRIFT, PERIOD = 0.3, 40.0


def valley(setting: Mapping[str, str]) -> float:
    """The default takes one second; 64MB with two workers 0.6, and what is far from it longer."""
    if not setting:
        return 1.0
    away = abs(math.log2(float(setting["work_mem"].removesuffix("MB")) / 64))
    return 0.6 + 0.08 * away + 0.1 * abs(int(setting["workers"]) - 2)


def flat(setting: Mapping[str, str]) -> float:
    """Nothing matters."""
    del setting
    return 1.0


@dataclass
class Tuned:
    """A tune that is carried out.

    Attributes:
        truth: What runs take.
        noise: Standard deviation of a run's logarithm.
        budget: In runs.
    """

    truth: Truth
    noise: float = 0.02
    budget: int = 120
    seed: int = 1
    knobs: tuple[SearchedKnob, ...] = KNOBS
    parts: list[Part] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._drawn = random.Random(self.seed)
        base = RunRequest(workload="tpch", engine="postgresql", scale=1.0, seed=self.seed)
        self.tune = Tune(base, self.knobs)

    @property
    def left(self) -> Left:
        runs = max(0, self.budget - len(self.trials))
        return Left(runs if self.trials else None, runs / self.budget)

    def step(self) -> bool:
        """Makes the next part, and says whether there was one within the budget."""
        following = self.tune.following(self.parts, self.trials, self.left)
        if following is None:
            return False
        self.parts = following
        done = {(trial.part, trial.setting, trial.round) for trial in self.trials}
        for run in self.tune.study(self.parts, {}).order():
            ((part, variant, number),) = run.stands_for
            if (part, variant, number) in done:
                continue
            if len(self.trials) == self.budget:
                return False
            levels = next(
                dict(candidate.levels)
                for planned_part in self.parts
                if planned_part.name == part
                for candidate in planned_part.variants
                if candidate.name == variant
            )
            self.trials.append(self._ran(part, levels, number))
        return True

    def whole(self) -> list[Trial]:
        """All of it."""
        while self.step():
            pass
        return self.trials

    def _ran(self, part: str, levels: Mapping[str, str], number: int) -> Trial:
        seconds = self.truth({name.removeprefix("set."): value for name, value in levels.items()})
        label = setting_words(levels)
        if seconds is None:
            return Trial(part, label, levels, number, None, None, "out of memory")
        drift = DRIFT * math.sin(len(self.trials) / PERIOD)
        cost = math.log(seconds) + drift + self._drawn.gauss(0, self.noise)
        return Trial(part, label, levels, number, math.exp(cost), cost)
