"""Predicts how long runs take, from this study, from earlier runs, or by a rough estimate.

Invariant: a measured duration of an equal request is used without correction.
"""

from __future__ import annotations

import math
import os
from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING, Any

from assay.model.errors import RecordUnreadableError, UsageError
from assay.model.request_keys import INCIDENTAL
from assay.record.layout import KIND_CEILING, KIND_PLANNED
from assay.record.reader import Run, list_runs, took_s
from assay.running.asked.request import RunRequest
from assay.study.ceiling.trials import CeilingRequest, Machine, trials
from assay.workloads.discovery import find_workload
from assay.workloads.generate import QUERIES, table_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from assay.study.variants import PlannedRun, StudyRequest

    Expected = Callable[[StudyRequest], float | None]

# Maximum number of earlier runs that are read, newest first.
RUNS_MAX = 200
# Rough estimates for any engine and machine, in seconds: for start, stop, checks and report; per
# row of data for a pass, and for generating and loading; per operation of a mix.
AROUND_S = 12.0
PASS_S = 1.2e-6
LOAD_S = 2.4e-6
OPERATION_S = 0.005
# Rows assumed for data that queries make, which no generator reports: as many as TPC-H has.
ROWS_AT_1 = 8_660_000
STEADY_PASSES = 6
# Assumed write rate of a ceiling's file, and overhead of a trial beside its duration in seconds.
FILL_BYTES_PER_S, AROUND_TRIAL_S = 400e6, 0.03
# Keys that make two runs similar in duration; other keys change it less than the engine does.
ALIKE = (
    *("workload", "engine", "scale", "test", "streams"),
    *("clients", "mixes", "mixes_max", "time_s", "min_time_s"),
)


class Pace:
    """Estimates how long the runs of a study will take, from finished runs."""

    def __init__(self, expected: Expected) -> None:
        self._expected = expected
        self._took: list[tuple[StudyRequest, float]] = []

    def took(self, request: StudyRequest, seconds: float) -> None:
        """Record the seconds that one run took."""
        self._took.append((request, seconds))

    def run_s(self, request: StudyRequest) -> float | None:
        """Return the expected seconds of one run; None if nothing is known."""
        if same := [seconds for asked, seconds in self._took if asked == request]:
            return median(same)
        expected = self._expected(request)
        if expected is not None:
            if isinstance(request, RunRequest):
                return expected * self._correction(request.engine)
            return expected
        return median(seconds for _, seconds in self._took) if self._took else None

    def left_s(self, requests: Iterable[StudyRequest]) -> float | None:
        """Return the expected seconds of several runs; None if one of them is unknown."""
        times_s = [self.run_s(request) for request in requests]
        known_s = [seconds for seconds in times_s if seconds is not None]
        return sum(known_s) if len(known_s) == len(times_s) else None

    def unfit(
        self, runs: Sequence[PlannedRun], compared: Sequence[str], left_s: float
    ) -> list[PlannedRun]:
        """Return the runs of a round that do not fit with the run that they are compared with.

        Args:
            runs: Runs of the round that are to do.
            compared: Variants of the round: the one that the others are compared with, then the
                others, the most important first.
            left_s: Seconds that are left.
        """
        by_name = {run.stands_for[0].variant: run for run in runs}
        first, *others = compared
        if first in by_name:
            left_s -= self.run_s(by_name[first].request) or 0.0
        unfit = []
        for name in others:
            seconds = self.run_s(by_name[name].request) or 0.0 if name in by_name else 0.0
            if seconds > left_s:
                unfit.append(by_name[name])
            left_s -= 0.0 if seconds > left_s else seconds
        # Without any other run there is nothing to compare the first one with.
        return list(runs) if len(unfit) == len(others) else unfit

    def _correction(self, engine: str) -> float:
        """Return the factor by which runs of an engine took longer than expected."""
        ratios = [
            (asked.engine, seconds / expected)
            for asked, seconds in self._took
            if isinstance(asked, RunRequest) and (expected := self._expected(asked))
        ]
        own = [ratio for name, ratio in ratios if name == engine]
        return median(own or [ratio for _, ratio in ratios] or [1.0])


def expected_after(runs: Path) -> Expected:
    """Return a function that estimates a run's seconds from similar runs."""
    past = list(_past(runs))

    def expected(request: StudyRequest) -> float:
        if isinstance(request, CeilingRequest):
            return looked_s(request)
        asked = request.facts()
        equal = [seconds for facts, seconds in past if _equal(facts, asked)]
        alike = [seconds for facts, seconds in past if _alike(facts, asked)]
        return median(equal or alike or [guessed_s(request)])

    return expected


def _past(runs: Path) -> Iterable[tuple[Mapping[str, Any], float]]:
    for directory in list_runs(runs)[-RUNS_MAX:]:
        try:
            run = Run(directory)
        except RecordUnreadableError:
            continue
        seconds = took_s(run)
        is_timed = run.kind not in {KIND_CEILING, KIND_PLANNED}
        if run.complete and seconds is not None and is_timed:
            # Older records lack options that did not exist then.
            yield (
                {**RunRequest(workload="", engine="", scale=0.0).facts(), **run.facts["request"]},
                seconds,
            )


def _equal(facts: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    return all(facts.get(key) == _plain(asked[key]) for key in asked if key not in INCIDENTAL)


def _alike(facts: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    return all(facts.get(key) == asked[key] for key in ALIKE)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def looked_s(request: CeilingRequest) -> float:
    """Return the estimated seconds of measuring the host's hardware."""
    machine = Machine(os.cpu_count() or 1, None, None, 1, has_ring=True)
    count = request.rounds * len(trials(request, machine))
    return request.size_bytes / FILL_BYTES_PER_S + count * (request.time_s + AROUND_TRIAL_S)


def guessed_s(request: RunRequest) -> float:
    """Return a rough estimate of a run's seconds from the request alone.

    The size of a folder of queries is unknown; a pass is assumed to take its minimum time.
    """
    rows = rows_of(request.workload, request.scale)
    pass_s = request.min_time_s if rows is None else PASS_S * rows
    around_s = AROUND_S + LOAD_S * (rows or 0)
    if request.mixes is not None:
        mixes = request.mixes + (request.warmup_mixes or 0)
        return around_s + mixes * len(find_workload(request.workload).facts.order) * OPERATION_S
    if request.clients is not None:
        return around_s + request.warmup_s + request.time_s
    plans_s = pass_s if request.plans else 0.0
    if request.test is not None:
        return around_s + pass_s * _test_passes(request) + plans_s
    timed_s = max(pass_s, math.ceil(request.min_time_s / pass_s) * pass_s) if pass_s else 0.0
    return around_s + pass_s * request.state_passes + timed_s + plans_s


@lru_cache(maxsize=64)
def rows_of(workload: str, scale: float) -> int | None:
    """Return the number of rows of a workload's data at a scale; None if unknown."""
    try:
        folder = find_workload(workload)
        facts = folder.row_facts(scale, 0)
        if facts["generator"] in (None, QUERIES):
            return None if facts["generator"] is None else round(ROWS_AT_1 * scale)
        tables = folder.tables(folder.facts.languages[0])
        return sum(table_rows(facts, table, 1).rows_expected for table in tables)
    except UsageError:  # The error is reported to the user who requests the run.
        return None


def _test_passes(request: RunRequest) -> int:
    streams = request.streams or 2
    both = {"power": 1, "throughput": streams, "full": 2 * (1 + streams)}
    return both.get(request.test or "", STEADY_PASSES)
