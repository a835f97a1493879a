"""What holds for predictions of any run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.whatif import predict, sensitivity
from assay.analysis.whatif.changes import (
    WAITS,
    RemoveWait,
    RemoveWork,
    ScaleOperation,
    SetCores,
    SetTime,
    SupposedChange,
)
from assay.analysis.whatif.resampling import NO_RESAMPLES
from assay.analysis.whatif.timing import Measured, TimedOperation
from tests.measured import a_run

CAUSES = (
    "cpu_user",
    "cpu_system",
    "run_queue",
    "disk_read",
    "lock",
    "workers",
    "idle",
    "uncovered",
)
WORKS = ("scan", "sort")
TIMES = st.floats(1e-4, 1e4)


@st.composite
def operations(draw: st.DrawFn, name: str) -> TimedOperation:
    """An operation of any number of threads, one of which at least is active all the time."""
    seconds, threads = draw(TIMES), draw(st.floats(1.0, 16.0))
    weights = [draw(st.floats(0.0, 1.0)) for _ in CAUSES]
    weights[0] += 0.1
    whole = sum(weights)
    parts = {cause: w / whole * threads * seconds for cause, w in zip(CAUSES, weights, strict=True)}
    scan = draw(st.floats(0.0, 1.0))
    work = {"scan": scan, "sort": 1.0 - scan}
    return TimedOperation(name, seconds, thread_s=parts, threads=threads, work=work)


@st.composite
def runs(draw: st.DrawFn) -> Measured:
    count = draw(st.integers(1, 5))
    made = [draw(operations(f"q{number}")) for number in range(count)]
    return a_run(*made, cores=draw(st.integers(1, 8)))


REMOVALS = st.lists(
    st.one_of(
        st.sampled_from([RemoveWait(name) for name in WAITS if name in CAUSES]),
        st.sampled_from([RemoveWork(word) for word in WORKS]),
    ),
    max_size=4,
)


def totals(run: Measured, changes: list[SupposedChange]) -> tuple[float, float, float]:
    """Least, predicted and most change of the total."""
    metric = predict(run, changes, NO_RESAMPLES).metric("total_seconds")
    assert metric.change is not None
    assert metric.change_least is not None
    assert metric.change_most is not None
    return metric.change_least, metric.change, metric.change_most


@given(runs())
def test_no_change_changes_nothing(run: Measured) -> None:
    for metric in predict(run, [], NO_RESAMPLES).metrics:
        assert metric.change == 0.0
    same = [ScaleOperation(name, 1.0) for name in run.names]
    same += [SetTime(op.name, op.seconds) for op in run.operations]
    prediction = predict(run, same, NO_RESAMPLES)
    assert prediction.operations == ()
    assert all(metric.change == pytest.approx(0.0, abs=1e-9) for metric in prediction.metrics)


@given(runs())
def test_as_many_cores_as_before_change_nothing(run: Measured) -> None:
    assert run.cores is not None
    assert predict(run, [SetCores(run.cores)], NO_RESAMPLES).operations == ()


@given(runs())
def test_halving_everything_halves_every_time(run: Measured) -> None:
    prediction = predict(run, [ScaleOperation(name, 0.5) for name in run.names], NO_RESAMPLES)
    for metric in prediction.metrics:
        factor = 0.5 if metric.metric.better == "lower" else 2.0
        assert metric.change == pytest.approx(factor - 1)


@given(runs(), REMOVALS, REMOVALS)
def test_removing_more_is_never_slower(
    run: Measured, some: list[SupposedChange], more: list[SupposedChange]
) -> None:
    assert totals(run, [*some, *more])[1] <= totals(run, some)[1] + 1e-9
    assert totals(run, some)[1] <= 1e-9


@given(runs(), REMOVALS, st.integers(1, 32))
def test_a_prediction_is_within_what_the_model_leaves_open(
    run: Measured, removals: list[SupposedChange], cores: int
) -> None:
    least, change, most = totals(run, [*removals, SetCores(cores)])
    assert least - 1e-9 <= change <= most + 1e-9
    assert least >= -1.0


@given(runs(), st.integers(1, 16), st.integers(1, 16))
def test_more_cores_are_never_slower(run: Measured, first: int, other: int) -> None:
    few, many = sorted((first, other))
    assert totals(run, [SetCores(many)])[1] <= totals(run, [SetCores(few)])[1] + 1e-9


@given(runs(), st.floats(0.1, 10.0), st.floats(0.1, 10.0))
def test_scaling_commutes_with_removing(run: Measured, first: float, second: float) -> None:
    scale = [ScaleOperation("q0", first), ScaleOperation("q0", second)]
    removal: list[SupposedChange] = [RemoveWait("disk_read")]
    before, behind = totals(run, [*scale, *removal]), totals(run, [*removal, *scale])
    assert before == pytest.approx(behind)


@given(st.lists(st.floats(1.0, 100.0), min_size=1, max_size=22))
def test_weights_in_a_geometric_mean_are_equal_and_in_a_total_they_sum_to_one(
    seconds: list[float],
) -> None:
    run = a_run(*(TimedOperation(f"q{n}", value) for n, value in enumerate(seconds)))
    rows = [
        {weight.metric: weight.elasticity for weight in interval_weight.weights}
        for interval_weight in sensitivity(run)
    ]
    for weights in rows:
        assert weights["geometric_mean_seconds"] == pytest.approx(1 / len(seconds), abs=1e-7)
    assert sum(weights["total_seconds"] for weights in rows) == pytest.approx(1.0, abs=1e-6)
    assert sum(weights["composite_per_h"] for weights in rows) == pytest.approx(-1.0, abs=1e-6)
