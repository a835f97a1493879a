"""Operations on one core, while other processes use the other cores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.analysis.findings.plans import parallelism
from assay.analysis.host.accounts import Accounts
from tests.cases import CORES, case, operation
from tests.truths import serial

SECONDS = 10.0
ONE_SECOND = {"seconds": 1.0}


def used(others: float, account: str = "engine") -> Accounts:
    """The engine used one core, and others some more."""
    busy_s = (1.0 + others) * SECONDS
    return Accounts(SECONDS, CORES, {account: SECONDS}, busy_s, CORES * SECONDS - busy_s, None)


@pytest.mark.parametrize(("others", "effect"), [(0.0, 1 - 1 / 4), (1.0, 1 - 1 / 3), (2.9, None)])
def test_cores_that_other_processes_used_are_not_saved(others: float, effect: float | None) -> None:
    run_case = case(operation(overrides=ONE_SECOND, cpu_user=1.0), accounts=used(others))
    findings = parallelism.find(run_case)
    assert [finding.effect_share for finding in findings] == (
        [] if effect is None else [pytest.approx(effect)]
    )


def test_time_of_an_unknown_engine_is_not_that_of_others() -> None:
    run_case = case(operation(overrides=ONE_SECOND, cpu_user=1.0), accounts=used(2.9, "driver"))
    assert len(parallelism.find(run_case)) == 1


@pytest.mark.parametrize(("queued", "is_told"), [(0.05, True), (0.4, False)])
def test_threads_that_wait_for_a_cpu_are_parallel(queued: float, *, is_told: bool) -> None:
    """Two threads that have half a core each use one core, as one thread does."""
    waiting = operation(overrides=ONE_SECOND, cpu_user=1.0 - queued, run_queue=queued)
    assert bool(parallelism.find(case(waiting))) is is_told


def test_a_setting_that_allows_no_workers_is_told_in_any_case() -> None:
    """With workers, the engine would get a larger part of the cores that it shares."""
    (alone,) = parallelism.find(serial(0.5))
    (beside,) = parallelism.find(replace(serial(0.5), accounts=used(2.9)))
    assert beside.effect_share == alone.effect_share
