"""Cores: Amdahl's law against cases whose schedule is known, and its bounds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.analysis.whatif import predict
from assay.analysis.whatif.changes import RemoveWait, SetCores, SetTime
from assay.analysis.whatif.cores import bounds_s, parallel_share, seconds_on, threads_on
from tests.measured import a_run, an_operation


def test_one_thread_gains_nothing() -> None:
    alone = an_operation("q", 1.0, cpu_user=1.0)
    assert seconds_on(alone, 2, 4) == pytest.approx(1.0)
    assert seconds_on(alone, 2, 1) == pytest.approx(1.0)
    assert bounds_s(alone, 2, 1) == pytest.approx((1.0, 1.0))


def test_threads_that_are_busy_all_the_time_halve_on_twice_the_cores() -> None:
    busy = an_operation("q", 1.0, threads=2.0, cpu_user=1.0)
    assert parallel_share(busy) == pytest.approx(1.0)
    assert seconds_on(busy, 2, 4) == pytest.approx(0.5)
    assert seconds_on(busy, 2, 1) == pytest.approx(2.0)


def test_threads_that_share_one_core_run_side_by_side_on_two() -> None:
    queued = an_operation("q", 1.0, threads=2.0, cpu_user=0.5, run_queue=0.5)
    assert seconds_on(queued, 1, 2) == pytest.approx(0.5)
    # Two threads have no use for a third core: that they are two was not the cores' doing.
    assert seconds_on(queued, 1, 3) == pytest.approx(0.5)


def test_the_serial_part_stays() -> None:
    # Three threads for 0.4 s of each second, and the leader alone for 0.6 s: 1.8 thread-seconds.
    mixed = an_operation("q", 1.0, threads=3.0, cpu_user=1.8 / 3)
    assert parallel_share(mixed) == pytest.approx(0.4)
    assert seconds_on(mixed, 3, 1) == pytest.approx(0.6 + 0.4 * 3)
    assert seconds_on(mixed, 3, 6) == pytest.approx(0.6 + 0.4 / 2)


def test_idle_workers_do_not_make_an_operation_parallel() -> None:
    leader = an_operation("q", 1.0, threads=3.0, cpu_user=1 / 3)
    assert parallel_share(leader) == pytest.approx(0.0)
    assert seconds_on(leader, 2, 8) == pytest.approx(1.0)


def test_waiting_for_a_disk_stays() -> None:
    reads = an_operation("q", 1.0, threads=2.0, cpu_user=0.5, disk_read=0.5)
    assert parallel_share(reads) == pytest.approx(0.5)
    assert seconds_on(reads, 2, 4) == pytest.approx(0.75)


def test_threads_follow_the_cores_where_they_were_as_many() -> None:
    assert threads_on(an_operation("q", 1.0, threads=2.0, cpu_user=1.0), 2, 4) == pytest.approx(4.0)
    assert threads_on(an_operation("q", 1.0, threads=3.0, cpu_user=1.0), 2, 4) == pytest.approx(3.0)
    assert threads_on(an_operation("q", 1.0, threads=1.0, cpu_user=1.0), 1, 4) == pytest.approx(1.0)


def test_cpu_time_is_a_bound_and_so_is_one_thread_after_another() -> None:
    busy = an_operation("q", 1.0, threads=2.0, cpu_user=0.8)
    assert bounds_s(busy, 2, 1) == pytest.approx((1.6, 2.0))
    assert bounds_s(busy, 2, 4) == pytest.approx((0.4, 1.0))


def test_no_more_threads_than_cores_have_the_same_time_on_fewer() -> None:
    busy = an_operation("q", 1.0, threads=2.0, cpu_user=1.0)
    assert bounds_s(busy, 8, 2) == pytest.approx((1.0, 1.0))


def test_after_more_cores_there_is_less_waiting_for_one() -> None:
    run = a_run(an_operation("q", 1.0, threads=2.0, cpu_user=0.5, run_queue=0.5), cores=1)
    more = predict(run, [SetCores(2)]).metric("total_seconds").after
    both = predict(run, [SetCores(2), RemoveWait("run_queue")]).metric("total_seconds").after
    assert both == pytest.approx(more)


def test_cores_there_and_back_are_the_same() -> None:
    run = a_run(an_operation("q", 1.0, threads=2.0, cpu_user=0.5, run_queue=0.5), cores=1)
    prediction = predict(run, [SetCores(2), SetCores(1)])
    assert prediction.metric("total_seconds").after == pytest.approx(1.0)


def test_competition_is_told_where_there_was_much() -> None:
    run = a_run(an_operation("q", 1.0, cpu_user=0.8, run_queue=0.2), background_share=0.45)
    assert any("45 %" in note for note in predict(run, [SetCores(4)]).notes)
    assert predict(run, [SetTime("q", 0.5)]).notes == ()
    assert predict(replace(run, background_share=0.01), [SetCores(4)]).notes == ()
