"""Predictions against what their model gives by hand, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.analysis.whatif import predict, worth
from assay.analysis.whatif.changes import (
    WAITS,
    RemoveWait,
    RemoveWork,
    ScaleOperation,
    SetCores,
    SetTime,
    wait_named,
)
from assay.analysis.whatif.prediction import Prediction
from assay.analysis.whatif.timing import Measured, TimedOperation
from assay.model.errors import UsageError
from tests.measured import a_run, an_operation, timed


def after(prediction: Prediction, name: str = "q") -> tuple[float, float, float]:
    """Least, predicted and most seconds of an operation."""
    (operation,) = (op for op in prediction.operations if op.name == name)
    return operation.least_s, operation.after_s, operation.most_s


def test_a_halved_query_is_half_in_the_total_and_by_its_root_in_the_mean() -> None:
    prediction = predict(timed(1.0, 3.0), [ScaleOperation("q02", 0.5)])
    assert prediction.metric("total_seconds").after == pytest.approx(2.5)
    assert prediction.metric("geometric_mean_seconds").change == pytest.approx(0.5**0.5 - 1)
    assert [op.name for op in prediction.operations] == ["q02"]


def test_changes_are_carried_out_in_their_order() -> None:
    run, halve, longer = timed(4.0), ScaleOperation("q01", 0.5), SetTime("q01", 3.0)
    assert predict(run, [halve, longer]).metric("total_seconds").after == pytest.approx(3.0)
    assert predict(run, [longer, halve]).metric("total_seconds").after == pytest.approx(1.5)


class TestRemoving:
    """Operations of one second, so that shares are seconds."""

    def test_the_wait_of_one_thread_goes_whole(self) -> None:
        run = a_run(an_operation("q", 1.0, cpu_user=0.6, disk_read=0.4))
        assert after(predict(run, [RemoveWait("disk_read")])) == pytest.approx((0.6, 0.6, 0.6))

    def test_idle_workers_wait_for_the_one_that_reads(self) -> None:
        run = a_run(an_operation("q", 1.0, threads=4.0, cpu_user=0.15, disk_read=0.1))
        # The leader reads for 0.4 s of its second, and three workers are idle.
        assert after(predict(run, [RemoveWait("disk_read")]))[1] == pytest.approx(0.6)

    def test_threads_that_read_alike_become_shorter_by_their_share(self) -> None:
        run = a_run(an_operation("q", 1.0, threads=2.0, cpu_user=0.7, disk_read=0.3))
        least, predicted, most = after(predict(run, [RemoveWait("disk_read")]))
        assert predicted == pytest.approx(0.7)
        # 0.6 thread-seconds: the other thread has room for all of it; what stays needs 0.7 of both.
        assert (least, most) == pytest.approx((0.7, 1.0))

    def test_what_the_other_threads_had_no_room_for_was_on_the_longest_chain(self) -> None:
        run = a_run(an_operation("q", 1.0, threads=1.5, cpu_user=0.2, disk_read=0.8))
        # 1.2 thread-seconds, of which half a thread has room for 0.5.
        assert after(predict(run, [RemoveWait("disk_read")]))[2] == pytest.approx(0.3)

    def test_time_that_nothing_accounts_for_stays(self) -> None:
        run = a_run(an_operation("q", 1.0, cpu_user=0.2, disk_read=0.3, uncovered=0.5))
        assert after(predict(run, [RemoveWait("disk_read")]))[1] == pytest.approx(0.7)

    def test_work_goes_with_its_share_of_waiting_for_a_cpu(self) -> None:
        work = {"hash probe": 0.25, "scan": 0.75}
        run = a_run(an_operation("q", 1.0, work=work, cpu_user=0.4, run_queue=0.4, disk_read=0.2))
        assert after(predict(run, [RemoveWork("hash probe")]))[1] == pytest.approx(0.8)

    def test_work_that_is_gone_leaves_its_share_to_the_rest(self) -> None:
        work = {"hash probe": 0.5, "scan": 0.5}
        run = a_run(an_operation("q", 1.0, work=work, cpu_user=1.0))
        both = predict(run, [RemoveWork("hash probe"), RemoveWork("scan")])
        assert both.metric("total_seconds").after == pytest.approx(0.0)
        assert both.metric("geometric_mean_seconds").after == pytest.approx(0.0)
        assert both.metric("composite_per_h").after is None

    def test_what_has_no_time_left_can_be_given_one(self) -> None:
        run = a_run(an_operation("q", 1.0, work={"scan": 1.0}, cpu_user=1.0))
        changes = [RemoveWork("scan"), RemoveWait("run_queue"), SetCores(4), SetTime("q", 2.0)]
        run = replace(
            run,
            operations=(replace(run.operations[0], thread_s={"cpu_user": 1.0, "run_queue": 0.0}),),
        )
        assert predict(run, changes).metric("total_seconds").after == pytest.approx(2.0)

    def test_a_wait_that_is_gone_is_not_gone_twice(self) -> None:
        run = a_run(an_operation("q", 1.0, cpu_user=0.6, lock=0.4))
        once, twice = [RemoveWait("lock")], [RemoveWait("lock")] * 2
        assert after(predict(run, once)) == after(predict(run, twice))

    def test_an_operation_that_was_not_split_is_named_and_stays(self) -> None:
        run = a_run(an_operation("q", 1.0, cpu_user=0.5, lock=0.5), TimedOperation("short", 0.001))
        prediction = predict(run, [RemoveWait("lock")])
        assert [op.name for op in prediction.operations] == ["q"]
        assert "short" in prediction.notes[0]


class TestLoads:
    def run(self, **about: object) -> Measured:
        reads, writes = (
            TimedOperation("reads", 0.1, weight=0.5),
            TimedOperation("writes", 0.3, weight=0.5),
        )
        about = {"clients": 4, "throughput_per_s": 20.0} | about
        return a_run(reads, writes, has_composite=False, **about)

    def test_a_closed_loop_does_more_when_its_operations_are_shorter(self) -> None:
        prediction = predict(self.run(), [ScaleOperation("writes", 0.5)])
        assert prediction.metric("service_seconds_mean").after == pytest.approx(0.125)
        assert prediction.metric("throughput_per_s").after == pytest.approx(32.0)
        assert any("closed loop" in assumption for assumption in prediction.assumptions)

    def test_an_open_load_is_what_was_asked_for(self) -> None:
        prediction = predict(self.run(rate_per_s=20.0), [ScaleOperation("writes", 0.5)])
        assert prediction.metric("throughput_per_s").change == 0.0

    def test_cores_of_a_load_are_not_predicted(self) -> None:
        with pytest.raises(UsageError, match="--pin"):
            predict(self.run(), [SetCores(4)])


class TestIntervals:
    def run(self, *passes: tuple[float, ...]) -> Measured:
        made = [
            TimedOperation(f"q{n}", sorted(seconds)[len(seconds) // 2], passes=seconds)
            for n, seconds in enumerate(passes)
        ]
        return a_run(*made)

    def test_passes_that_agree_leave_none_open(self) -> None:
        prediction = predict(self.run((1.0,) * 9, (1.0,) * 9), [ScaleOperation("q0", 0.5)])
        assert prediction.metric("total_seconds").interval == pytest.approx((-0.25, -0.25))
        assert prediction.passes == 9

    def test_a_query_that_varies_leaves_its_share_open(self) -> None:
        run = self.run((0.5, 1.0, 1.5, 0.7, 1.2, 0.9, 1.1), (1.0,) * 7)
        metric = predict(run, [ScaleOperation("q0", 0.5)]).metric("total_seconds")
        assert metric.interval is not None
        assert metric.interval[0] < metric.change < metric.interval[1]
        # A geometric mean changes by the same factor whatever the times are.
        mean = predict(run, [ScaleOperation("q0", 0.5)]).metric("geometric_mean_seconds")
        assert mean.interval == pytest.approx((mean.change, mean.change))

    def test_a_time_that_is_given_does_not_vary(self) -> None:
        run = self.run((0.5, 1.0, 1.5, 0.7, 1.2, 0.9, 1.1))
        metric = predict(run, [SetTime("q0", 0.25)]).metric("total_seconds")
        assert metric.interval is not None
        assert metric.interval[0] > 0.25 / 1.5 - 1
        assert metric.interval[1] < 0.25 / 0.5 - 1

    def test_few_passes_have_none(self) -> None:
        prediction = predict(self.run((1.0,) * 4), [ScaleOperation("q0", 0.5)])
        assert prediction.metric("total_seconds").interval is None
        assert prediction.passes == 0


class TestWorth:
    def test_what_gives_most_comes_first_and_little_is_left_out(self) -> None:
        work = {"scan": 0.7, "sort": 0.299, "log": 0.001}
        run = a_run(an_operation("q", 1.0, work=work, cpu_user=0.5, lock=0.5, latch=0.0))
        gains = [
            (operation_worth.kind, operation_worth.subject, -operation_worth.gain)
            for operation_worth in worth(run)
        ]
        assert [worth_row[:2] for worth_row in gains] == [
            ("wait", "lock"),
            ("work", "scan"),
            ("work", "sort"),
        ]
        assert gains[0][2] == pytest.approx(-0.5)
        assert gains[1][2] == pytest.approx(-0.35)

    def test_a_run_that_was_not_split_has_none(self) -> None:
        assert worth(timed(1.0)) == ()
        assert worth(timed(1.0, without_time=("q02",))) == ()


class TestRefused:
    run = a_run(an_operation("q", 1.0, work={"scan": 1.0}, cpu_user=0.5, disk_read=0.5))

    @pytest.mark.parametrize(
        ("change", "mend"),
        [
            (ScaleOperation("p", 0.5), "known: q"),
            (ScaleOperation("q", 0.0), "above 0"),
            (ScaleOperation("q", float("nan")), "above 0"),
            (SetTime("q", 0.0), "above 0"),
            (SetTime("q", float("inf")), "above 0"),
            (RemoveWork("scann"), "did you mean 'scan'"),
            (RemoveWait("disk_rread"), "did you mean 'disk read'"),
            (RemoveWait("lock"), "measured were: disk read"),
            (RemoveWait("cpu_user"), "--remove-operation"),
            (RemoveWait("idle"), "follows from"),
            (RemoveWait("uncovered"), "follows from"),
            (SetCores(0), "1 or more"),
            (SetCores(-1), "1 or more"),
        ],
    )
    def test_with_the_mend(self, change: ScaleOperation, mend: str) -> None:
        with pytest.raises(UsageError, match=mend):
            predict(self.run, [change])

    def test_work_of_a_run_without_samples(self) -> None:
        with pytest.raises(UsageError, match="--profile"):
            predict(timed(1.0), [RemoveWork("scan")])

    @pytest.mark.parametrize("change", [RemoveWait("lock"), SetCores(4)])
    def test_what_needs_a_split_without_one(self, change: SetCores) -> None:
        with pytest.raises(UsageError, match="not split"):
            predict(timed(1.0), [change])

    def test_cores_of_a_run_that_does_not_tell_them(self) -> None:
        with pytest.raises(UsageError, match="CPUs"):
            predict(replace(self.run, cores=None), [SetCores(4)])

    def test_a_run_in_which_something_never_succeeded(self) -> None:
        with pytest.raises(UsageError, match="q05"):
            predict(timed(1.0, without_time=("q05",)), [])

    def test_a_run_of_nothing(self) -> None:
        with pytest.raises(UsageError, match="no operation"):
            predict(a_run(), [])


def test_causes_are_called_by_their_title_or_their_name() -> None:
    assert wait_named("disk read") == "disk_read"
    assert wait_named("Disk_Read") == "disk_read"
    assert wait_named("waiting for a CPU") == "run_queue"
    assert wait_named("network or client") == "client"
    assert {"idle", "workers", "uncovered", "cpu_user", "cpu_system"}.isdisjoint(WAITS)
