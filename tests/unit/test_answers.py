"""Rows are compared as the specification asks: counts exact, sums within 100 at scale 1, averages
and ratios within one in a hundred, blanks that pad a text not at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import assay.workloads
from assay.analysis.answers.comparison import (
    Expected,
    Tolerances,
    cell_is_right,
    difference,
    read_expected,
    read_expected_by,
)

KINDS = {"money": "sum", "mean": "average", "part": "ratio"}
SUM_ABSOLUTE = 100.0
RATIO_RELATIVE = 0.01


def tolerances(scale: float = 1.0) -> Tolerances:
    return Tolerances.of(KINDS, SUM_ABSOLUTE, RATIO_RELATIVE, scale)


def right(cell: object, wanted: str | None, column: str = "exact", scale: float = 1.0) -> bool:
    return cell_is_right(cell, wanted, column, tolerances(scale))


def expected(header: str, *rows: str) -> Expected:
    fields = tuple(tuple(field or None for field in row.split("|")) for row in rows)
    return Expected(tuple(header.split("|")), fields)


class TestExact:
    @pytest.mark.parametrize("cell", [7, Decimal(7), Decimal("7.00"), 7.0])
    def test_a_count_is_right_in_any_numeric_type(self, cell: object) -> None:
        assert right(cell, "7")

    @pytest.mark.parametrize(
        "cell", [6, 8, Decimal("7.01"), 7.0001, float("nan"), float("inf"), None]
    )
    def test_a_count_that_is_off_by_anything_is_wrong(self, cell: object) -> None:
        assert not right(cell, "7")

    def test_an_answer_with_more_than_two_decimals_is_compared_in_cents(self) -> None:
        assert right(Decimal("1.005"), "1.0051")
        assert right(Decimal("1.01"), "1.0099")
        assert not right(Decimal("1.00"), "1.0099")

    def test_cents_are_rounded_half_up_as_the_specification_does(self) -> None:
        assert right(Decimal("0.13"), "0.125")
        assert not right(Decimal("0.12"), "0.125")

    def test_a_float_may_have_lost_its_last_digits_and_no_more(self) -> None:
        assert right(0.1 + 0.2, "0.3")
        assert right(37734107.0000001, "37734107")
        assert not right(37734107.1, "37734107")

    def test_a_decimal_has_no_such_excuse(self) -> None:
        assert not right(Decimal("0.30000000000000004"), "0.3")


class TestHugeNumbers:
    """An engine's decimals have 38 digits, a float reaches 1e308; Python's own context has 28."""

    LONG = "12345678901234567890123456789012345678"

    def test_all_digits_of_a_38_digit_decimal_count(self) -> None:
        assert right(Decimal(self.LONG), self.LONG)
        assert not right(Decimal(self.LONG[:-1] + "9"), self.LONG)

    @pytest.mark.parametrize("column", ["exact", "money", "mean", "part"])
    def test_every_kind_compares_them(self, column: str) -> None:
        assert right(Decimal(self.LONG + ".123"), self.LONG + ".123", column)
        assert not right(Decimal("9" + self.LONG), self.LONG, column)

    def test_the_last_digits_of_a_sum_are_within_its_tolerance(self) -> None:
        assert not right(int(self.LONG) + 101, self.LONG, "money")
        assert right(int(self.LONG) + 100, self.LONG, "money")

    @pytest.mark.parametrize("column", ["exact", "money", "mean", "part"])
    def test_the_largest_float_is_a_wrong_answer_and_no_error(self, column: str) -> None:
        assert not right(1.7e308, "1.25", column)


class TestSums:
    def test_at_scale_1_a_sum_may_be_off_by_100(self) -> None:
        assert right(Decimal("1100.00"), "1000.00", "money")
        assert right(Decimal("900.00"), "1000.00", "money")
        assert not right(Decimal("1100.01"), "1000.00", "money")

    @pytest.mark.parametrize(("scale", "bound"), [(0.01, "1"), (0.1, "10"), (10.0, "100")])
    def test_below_scale_1_the_bound_shrinks_with_it_and_above_it_stays(
        self, scale: float, bound: str
    ) -> None:
        assert right(Decimal(5000) + Decimal(bound), "5000", "money", scale)
        assert not right(Decimal(5000) + Decimal(bound) + Decimal("0.01"), "5000", "money", scale)


@pytest.mark.parametrize("column", ["mean", "part"])
class TestAveragesAndRatios:
    def test_one_in_a_hundred_is_the_bound(self, column: str) -> None:
        assert right(Decimal("101.00"), "100.00", column)
        assert right(Decimal("99.00"), "100.00", column)
        assert not right(Decimal("101.01"), "100.00", column)

    def test_both_are_rounded_to_cents_first(self, column: str) -> None:
        assert right(Decimal("101.0049"), "100.00", column)
        assert not right(Decimal("101.005"), "100.00", column)
        assert right(0.0499, "0.05", column)

    def test_an_answer_of_zero_allows_zero_cents_only(self, column: str) -> None:
        assert right(Decimal("0.004"), "0.00", column)
        assert not right(Decimal("0.01"), "0.00", column)


class TestTexts:
    def test_blanks_that_pad_a_text_do_not_count(self) -> None:
        assert right("Brand#12  ", "Brand#12")
        assert right("ends in a blank", "ends in a blank ")

    def test_other_blanks_and_letters_count(self) -> None:
        assert not right(" Brand#12", "Brand#12")
        assert not right("BRAND#12", "Brand#12")

    def test_a_text_that_looks_like_a_number_is_a_text(self) -> None:
        assert right("013", "013")
        assert not right("13", "013")
        assert not right("13.0", "13")

    @pytest.mark.parametrize("name", ["NaN", "inf", "-Infinity", "sNaN", "1e5x", ""])
    def test_a_number_is_never_a_word_even_one_that_python_reads_as_a_number(
        self, name: str
    ) -> None:
        assert not right(5, name)
        assert not right(5.0, name, "money")

    def test_dates_are_compared_by_their_day(self) -> None:
        assert right(date(1995, 3, 15), "1995-03-15")
        assert right(datetime(1995, 3, 15), "1995-03-15")  # noqa: DTZ001 - engines have local ones
        assert not right(date(1995, 3, 16), "1995-03-15")
        assert not right(datetime(1995, 3, 15, 0, 0, 1), "1995-03-15")  # noqa: DTZ001


class TestNull:
    @pytest.mark.parametrize("cell", [None, "", "   "])
    def test_null_and_a_text_without_letters_are_an_empty_field(self, cell: object) -> None:
        assert right(cell, None)

    @pytest.mark.parametrize("cell", [0, 0.0, "null", False])
    def test_nothing_else_is(self, cell: object) -> None:
        assert not right(cell, None)

    @pytest.mark.parametrize("column", ["exact", "money", "mean"])
    def test_null_is_no_number(self, column: str) -> None:
        assert not right(None, "0", column)

    def test_a_file_of_one_null_is_a_header_and_an_empty_line(self, tmp_path: Path) -> None:
        file = tmp_path / "q17.csv"
        file.write_text("avg_yearly\n\n", encoding="utf-8")
        answer = read_expected(file)
        assert answer.rows == ((None,),)
        assert difference([(None,)], answer, tolerances()) is None
        assert difference([], answer, tolerances()) == "0 rows instead of 1"

    def test_the_first_row_is_told_where_there_should_be_none(self) -> None:
        rows = [[1, Decimal("300000.01"), None], [2, Decimal("0.00"), None]]
        answer = Expected(("w_id", "w_ytd", "paid"), ())
        message = "2 rows instead of none; the first: w_id 1, w_ytd 300000.01, paid None"
        assert difference(rows, answer, tolerances()) == message
        assert difference([(Decimal("1.5"),)], answer, tolerances()) is not None

    def test_the_shipped_answer_of_q17_at_scale_001_is_that_null(self) -> None:
        folder = Path(assay.workloads.__file__).parent / "tpch" / "answers" / "sf0.01"
        assert read_expected(folder / "q17.csv").rows == ((None,),)

    def test_an_answer_without_rows_is_a_header(self, tmp_path: Path) -> None:
        (tmp_path / "q.csv").write_text("a|b\n", encoding="utf-8")
        assert read_expected(tmp_path / "q.csv") == Expected(("a", "b"), ())


class TestRows:
    ANSWER = expected("k|money", "1|10.00", "2|20.00", "3|30.00")
    ROWS = ((1, Decimal("10.00")), (2, Decimal("20.00")), (3, Decimal("30.00")))

    def test_right_rows_have_no_difference(self) -> None:
        assert difference(self.ROWS, self.ANSWER, tolerances()) is None

    @pytest.mark.parametrize(
        ("rows", "message"), [(2, "2 rows instead of 3"), (4, "4 rows instead of 3")]
    )
    def test_too_few_or_too_many_rows_are_counted(self, rows: int, message: str) -> None:
        given = (*self.ROWS, (4, Decimal(40)))[:rows]
        assert difference(given, self.ANSWER, tolerances()) == message

    def test_too_few_or_too_many_columns_are_counted(self) -> None:
        narrow = [row[:1] for row in self.ROWS]
        wide = [(*row, 0) for row in self.ROWS]
        assert difference(narrow, self.ANSWER, tolerances()) == "1 columns instead of 2"
        assert difference(wide, self.ANSWER, tolerances()) == "3 columns instead of 2"

    def test_the_first_wrong_cell_is_named_with_both_values(self) -> None:
        rows = [self.ROWS[0], (2, Decimal("333.00")), self.ROWS[2]]
        assert (
            difference(rows, self.ANSWER, tolerances()) == "row 2, money: 333.00 instead of 20.00"
        )

    def test_right_rows_in_a_wrong_order_are_wrong_and_the_message_says_so(self) -> None:
        mismatch = difference(self.ROWS[::-1], self.ANSWER, tolerances())
        assert mismatch == "row 1, k: 3 instead of 1 (the rows are right, their order is not)"

    def test_wrong_rows_in_a_wrong_order_get_no_such_hint(self) -> None:
        rows = [self.ROWS[2], self.ROWS[1], (7, Decimal("10.00"))]
        mismatch = difference(rows, self.ANSWER, tolerances())
        assert mismatch == "row 1, k: 3 instead of 1"

    def test_a_null_that_should_be_a_value_is_shown_as_null(self) -> None:
        rows = [(None, Decimal(10)), *self.ROWS[1:]]
        assert difference(rows, self.ANSWER, tolerances()) == "row 1, k: null instead of 1"


def ranked(*rows: str, **rule: Any) -> Expected:
    return replace(expected("name|points", *rows), ordered_by=("points",), **rule)


class TestACutOrder:
    """Rows by points of which three are returned, the first left out."""

    ROWS = ("a|9", "b|8", "c|7", "d|7", "e|7", "f|6")

    def different(self, *rows: tuple[str, int]) -> str | None:
        return difference(rows, ranked(*self.ROWS, offset=1, limit=3), tolerances())

    @pytest.mark.parametrize("tied", [("c", "d"), ("e", "c"), ("d", "e")])
    def test_of_rows_that_tie_at_the_end_any_may_be_returned(self, tied: tuple[str, str]) -> None:
        assert self.different(("b", 8), (tied[0], 7), (tied[1], 7)) is None

    def test_each_of_them_may_be_returned_once(self) -> None:
        assert self.different(("b", 8), ("c", 7), ("c", 7)) is not None

    @pytest.mark.parametrize("wrong", [("f", 6), ("x", 7), ("a", 9)])
    def test_no_other_row_may(self, wrong: tuple[str, int]) -> None:
        text = self.different(("b", 8), ("c", 7), wrong)
        assert text is not None
        assert "row 3" in text
        assert "none of the 3 rows that tie there" in text

    def test_what_does_not_tie_has_to_be_there(self) -> None:
        assert "row 1" in str(self.different(("a", 9), ("c", 7), ("d", 7)))

    def test_as_many_rows_are_returned_as_there_are(self) -> None:
        assert self.different(("b", 8), ("c", 7)) == "2 rows instead of 3"
        assert difference([], ranked("a|9", offset=1, limit=3), tolerances()) is None

    def test_rows_that_tie_with_the_first_may_be_left_out_instead(self) -> None:
        rows = ranked("a|9", "b|9", "c|8", offset=1, limit=2)
        for first in ("a", "b"):
            assert difference([(first, 9), ("c", 8)], rows, tolerances()) is None
        assert difference([("c", 8), ("a", 9)], rows, tolerances()) is not None


class TestOtherOrders:
    def test_without_columns_rows_come_in_any(self) -> None:
        rows = replace(expected("name|points", "a|1", "b|2"), ordered_by=())
        assert difference([("b", 2), ("a", 1)], rows, tolerances()) is None
        assert difference([("b", 2), ("b", 2)], rows, tolerances()) is not None

    def test_floating_point_that_is_near_ties_and_hides_the_order_behind_it(self) -> None:
        near = Tolerances.of({"points": "float"}, 0, 0, 1, 1e-3)
        order = replace(ranked("a|7.0", "b|7.0001", "c|6"), ordered_by=("points", "name"))
        assert difference([("b", 7.0), ("a", 7.0), ("c", 6.0)], order, near) is None
        assert difference([("c", 6.0), ("a", 7.0), ("b", 7.0)], order, near) is not None
        assert difference([("a", 7.1), ("b", 7.0), ("c", 6.0)], order, near) is not None

    def test_more_rows_may_come_where_that_is_said_and_none_be_missing(self) -> None:
        rows = replace(expected("name|points", "a|1", "b|2"), ordered_by=(), more_rows=True)
        assert difference([("x", 3), ("b", 2), ("a", 1)], rows, tolerances()) is None
        mismatch = difference([("x", 3), ("a", 1)], rows, tolerances())
        assert mismatch == "a row is missing: name b, points 2"

    def test_a_rule_is_that_of_the_record(self, tmp_path: Path) -> None:
        (tmp_path / "q.csv").write_text("name|points\na|9\nb|8\nc|8\n")
        rule = {"ordered_by": ["points"], "offset": 0, "limit": 2, "more_rows": False}
        read = read_expected_by(tmp_path / "q.csv", rule)
        assert read == ranked("a|9", "b|8", "c|8", limit=2)
        assert list(read.returned) == [0, 1]
