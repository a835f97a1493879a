"""Each operation's figure is the median of its passes that succeeded; nothing is averaged away."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

from assay.analysis.operations import (
    geometric_mean,
    measured,
    operation_table,
    total_and_mean,
    window_ns,
)
from tests.conftest import an_event, stream_table

SECOND_MS = 1000.0
# A sum of logarithms loses a few of the 53 bits of a float.
FLOAT_RELATIVE = 1e-12


def events(*rows: dict[str, Any]) -> pl.DataFrame:
    numbered = [row | {"sequence": number} for number, row in enumerate(rows)]
    frame = pl.from_arrow(stream_table("events", numbered))
    assert isinstance(frame, pl.DataFrame)
    return frame


def passes(operation: str, *walls_ms: float, **other: Any) -> list[dict[str, Any]]:
    return [an_event(0, operation, 0, wall_ms) | other for wall_ms in walls_ms]


FAILED = {"outcome": "failed", "error": "timeout", "rows": None, "digest": None}
SKIPPED = {
    "outcome": "skipped",
    "started_ns": None,
    "finished_ns": None,
    "rows": None,
    "digest": None,
}


class TestTotals:
    def test_they_are_of_all_operations(self) -> None:
        assert total_and_mean([1.0, 4.0]) == pytest.approx((5.0, 2.0))

    @pytest.mark.parametrize("seconds", [[], [1.0, None], [None]])
    def test_without_one_of_them_there_is_none(self, seconds: list[float | None]) -> None:
        assert total_and_mean(seconds) == (None, None)


class TestSeconds:
    def test_the_figure_is_the_median_over_the_passes(self) -> None:
        table = operation_table(events(*passes("q1", 9000, 1000, 2000)))
        assert table.row(0, named=True)["seconds"] == pytest.approx(2.0)

    def test_of_an_even_number_it_is_the_middle_of_the_middle_two(self) -> None:
        table = operation_table(events(*passes("q1", 1000, 2000, 4000, 90000)))
        assert table["seconds"].to_list() == pytest.approx([3.0])

    def test_the_fastest_and_the_slowest_stand_beside_it(self) -> None:
        row = operation_table(events(*passes("q1", 3000, 1000, 2000))).row(0, named=True)
        assert (row["seconds_min"], row["seconds_max"]) == pytest.approx((1.0, 3.0))

    def test_warmup_does_not_count(self) -> None:
        warm = passes("q1", 9000, phase="warmup")
        row = operation_table(events(*warm, *passes("q1", 1000))).row(0, named=True)
        assert (row["seconds"], row["scheduled"]) == (pytest.approx(1.0), 1)

    def test_operations_keep_the_order_of_the_first_pass(self) -> None:
        rows = [*passes("z", 1), *passes("a", 1), *passes("m", 1), *passes("a", 1), *passes("z", 1)]
        assert operation_table(events(*rows))["operation"].to_list() == ["z", "a", "m"]

    def test_service_time_is_from_the_start_and_not_from_the_schedule(self) -> None:
        late = an_event(0, "q1", 5_000_000_000, 1000, scheduled_ns=0)
        assert operation_table(events(late))["seconds"].to_list() == pytest.approx([1.0])


class TestOutcomes:
    def test_a_failed_pass_is_counted_and_not_timed(self) -> None:
        rows = [*passes("q1", 1000, 3000), *passes("q1", 50000, **FAILED)]
        row = operation_table(events(*rows)).row(0, named=True)
        assert (row["scheduled"], row["ok"], row["failed"], row["skipped"]) == (3, 2, 1, 0)
        assert row["seconds"] == pytest.approx(2.0)
        assert row["error"] == "timeout"

    def test_a_skipped_pass_is_counted_and_has_no_time(self) -> None:
        rows = [*passes("q1", 1000), *passes("q1", 0, **SKIPPED)]
        row = operation_table(events(*rows)).row(0, named=True)
        assert (row["scheduled"], row["ok"], row["skipped"]) == (2, 1, 1)
        assert row["seconds"] == pytest.approx(1.0)

    def test_an_operation_that_never_succeeded_has_no_time_and_no_rows(self) -> None:
        row = operation_table(events(*passes("q1", 1000, 2000, **FAILED))).row(0, named=True)
        assert (row["seconds"], row["seconds_min"], row["seconds_max"], row["rows"]) == (None,) * 4

    def test_scheduled_is_ok_and_skipped_and_failed(self) -> None:
        rows = [*passes("q1", 1, 2), *passes("q1", 3, **FAILED), *passes("q1", 0, **SKIPPED)]
        table = operation_table(events(*rows))
        assert (table["scheduled"] == table["ok"] + table["skipped"] + table["failed"]).all()

    def test_retries_are_summed_beside(self) -> None:
        rows = [*passes("q1", 1, retries=2), *passes("q1", 1, retries=3)]
        assert operation_table(events(*rows))["retries"].to_list() == [5]


class TestGeometricMean:
    def test_of_nothing_there_is_none(self) -> None:
        assert geometric_mean([]) is None

    def test_of_one_value_it_is_that_value(self) -> None:
        assert geometric_mean([0.37]) == pytest.approx(0.37, rel=FLOAT_RELATIVE)

    def test_of_equal_values_it_is_that_value(self) -> None:
        assert geometric_mean([0.37] * 22) == pytest.approx(0.37, rel=FLOAT_RELATIVE)

    @pytest.mark.parametrize("values", [[0.0], [1.0, 0.0], [1.0, -1.0]])
    def test_with_a_zero_there_is_none_instead_of_a_flattering_zero(
        self, values: list[float]
    ) -> None:
        assert geometric_mean(values) is None

    def test_it_is_the_nth_root_of_the_product(self) -> None:
        assert geometric_mean([1.0, 10.0, 100.0]) == pytest.approx(10.0, rel=FLOAT_RELATIVE)

    def test_very_small_and_very_large_values_neither_vanish_nor_overflow(self) -> None:
        assert geometric_mean([1e-300] * 3 + [1e300] * 3) == pytest.approx(1.0)
        assert math.isfinite(geometric_mean([1e300] * 9) or math.nan)


class TestWindow:
    def test_it_goes_from_the_first_start_to_the_last_end_of_what_was_measured(self) -> None:
        rows = [
            an_event(0, "a", 10, 0, phase="warmup", finished_ns=20),
            an_event(1, "a", 30, 0, finished_ns=70),
            an_event(2, "b", 40, 0, finished_ns=50),
        ]
        assert window_ns(events(*rows)) == (30, 70)

    def test_without_a_measured_operation_there_is_none(self) -> None:
        assert window_ns(events(*passes("a", 1, phase="warmup"))) is None
        assert window_ns(events(*passes("a", 0, **SKIPPED))) is None
        assert window_ns(events()) is None


def test_words_of_the_record_become_plain_text_so_that_tables_can_be_joined() -> None:
    frame = measured(events(*passes("a", SECOND_MS)))
    columns = ("phase", "operation", "outcome", "error")
    assert {frame.schema[name] for name in columns} == {pl.String}
