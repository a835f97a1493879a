"""Times of operations before and after a change: ratio, interval, and how they are printed."""

from __future__ import annotations

import math
import random
from typing import get_args

import pytest

from assay.analysis.compare.operations import VALUES_MIN, times_of
from assay.report.documents.before_after import BeforeAfter, BeforeAfterRow, ChangeVerdict
from assay.report.terminal.before_after import before_after_lines


class TestTimes:
    def test_the_ratio_is_of_geometric_means(self) -> None:
        times = times_of("q", [1.0, 4.0], [1.0, 1.0])
        assert (times.before_s, times.after_s) == (pytest.approx(2.0), pytest.approx(1.0))
        assert times.factor == pytest.approx(0.5)

    def test_too_few_executions_have_no_interval(self) -> None:
        few = [1.0] * (VALUES_MIN - 1)
        assert times_of("q", few, [2.0] * 9).interval is None
        assert times_of("q", few, [2.0] * 9).differs is None
        assert times_of("q", [1.0] * VALUES_MIN, [2.0] * 9).differs is True

    def test_what_did_not_succeed_has_no_time(self) -> None:
        times = times_of("q", [], [1.0, 1.0, 1.0])
        assert (times.before_s, times.factor, times.interval) == (None, None, None)

    @pytest.mark.parametrize("executions", [5, 12, 400])
    def test_the_interval_holds_the_truth_as_often_as_it_says(self, executions: int) -> None:
        chance, truth, rounds, held = random.Random(7), 0.8, 400, 0
        for _ in range(rounds):
            before = [chance.lognormvariate(0.0, 0.3) for _ in range(executions)]
            after = [truth * chance.lognormvariate(0.0, 0.1) for _ in range(executions)]
            interval = times_of("q", before, after).interval
            assert interval is not None
            held += interval[0] <= truth <= interval[1]
        assert abs(held / rounds - 0.95) < 4 * math.sqrt(0.95 * 0.05 / rounds)

    def test_noise_alone_is_seldom_a_difference(self) -> None:
        chance = random.Random(3)
        samples = [
            [[chance.lognormvariate(0.0, 0.2) for _ in range(8)] for _ in range(2)]
            for _ in range(400)
        ]
        assert sum(bool(times_of("q", *pair).differs) for pair in samples) <= 400 * 0.09


def row(verdict: ChangeVerdict, factor: float | None, **more: object) -> BeforeAfterRow:
    whole = {
        "operation": "by_customer",
        "before_s": 1.0,
        "after_s": factor,
        "factor": factor,
        "interval": None if factor is None else [0.9 * factor, 1.1 * factor],
        "verdict": verdict,
        "plan": None,
    }
    return {**whole, **more}  # type: ignore[typeddict-item]


def lines_of(*rows: BeforeAfterRow, width: int = 100) -> list[str]:
    changes: BeforeAfter = {
        "before": "one",
        "after": "two",
        "earlier_s": 90.0,
        "operations": list(rows),
    }
    return list(before_after_lines(changes, width))


class TestLines:
    @pytest.mark.parametrize(
        ("shown", "text"),
        [
            (row("faster", 0.05), "20 times as fast [18.2, 22.2]"),
            (row("slower", 3.0), "3 times as long [2.7, 3.3]"),
            (row("faster", 0.9), "-10.0 % [-19 %, -1.0 %]"),
            (row("within noise", 1.01), "within noise [-9.1 %, +11 %]"),
            (row("not known", 0.9, interval=None), "-10.0 %, too few passes for an interval"),
            (row("not known", None), "it did not succeed in both runs"),
            (row("other text", 0.5), "the statement was changed"),
        ],
    )
    def test_a_change_is_said_as_people_say_it(self, shown: BeforeAfterRow, text: str) -> None:
        assert any(text in line for line in lines_of(shown)), lines_of(shown)

    def test_every_operation_stands_there_and_no_line_is_too_long(self) -> None:
        plan = "orders is read by index scan of a_rather_long_name_of_an_index, not by scan"
        rows = [row(verdict, 0.5, plan=plan) for verdict in get_args(ChangeVerdict)]
        lines = lines_of(*rows, width=80)
        assert sum("by_customer" in line for line in lines) == len(rows)
        assert max(map(len, lines)) <= 80
