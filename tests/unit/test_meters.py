"""Lines of activity as they were published, and as we print them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.counters.meters import (
    WORDS,
    activity_line,
    locality,
    parse_activity,
    scaled_text,
)

# "Benchmarks, Redux": 2000 mixes of 16 users at 1000 and at 100 million triples.
AT_1000_MT = (
    "1.674G rnd  3.223G seq      0 same seg  1.286G same pg  314.8M same par  6.186M disk"
    "  6.461M spec disk      0B /     0 messages  298.6K fork"
)
AT_100_MT = (
    "234.3M rnd  420.5M seq      0 same seg   188.8M same pg  29.09M same par  808.9K disk"
    "  919.9K spec disk      0B /      0 messages  76K fork"
)
SERVER = (
    "     6 rnd  2.518K seq      0 same seg       0 same pg      0 same par      0 disk"
    "      0 spec disk      0B /      0 messages      0 fork"
)


def test_published_lines_say_what_their_author_read_in_them() -> None:
    large, small = parse_activity(AT_1000_MT), parse_activity(AT_100_MT)
    assert large["rnd"] == 1_674_000_000
    assert small["fork"] == 76_000
    assert large["messages"] == 0
    where = locality(large)
    assert where.same_page == pytest.approx(0.77, abs=0.005)
    assert where.rows_each == pytest.approx(2, abs=0.1)
    assert round(100 * small["rnd"] / large["rnd"]) == 14
    assert round(large["rnd"] / small["rnd"]) == 7


@pytest.mark.parametrize("line", [AT_1000_MT, AT_100_MT, SERVER])
def test_a_line_is_printed_as_it_was_read(line: str) -> None:
    assert activity_line(parse_activity(line)).split() == line.split()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1K"),
        (2518, "2.518K"),
        (192_558, "192.6K"),
        (1_674_000_000, "1.674G"),
        (5e15, "5000T"),
    ],
)
def test_a_count_has_four_digits_and_the_suffix_of_its_power(value: float, text: str) -> None:
    assert scaled_text(value).strip() == text


def test_the_length_of_messages_is_in_powers_of_1024() -> None:
    line = activity_line(dict.fromkeys(WORDS, 2048.0))
    assert "2KB /" in line
    assert " 2.048K messages" in line
    assert parse_activity(line)["bytes"] == 2048


def test_what_is_not_told_is_left_out_and_is_no_zero() -> None:
    assert activity_line({"rnd": 5, "seq": 7}).split() == ["5", "rnd", "7", "seq"]
    assert activity_line({}) == ""
    assert locality({"rnd": 0, "seq": 5}).rows_each is None
    assert locality({"rnd": 5}).same_page is None


@pytest.mark.parametrize("line", ["", "rnd", AT_1000_MT[:-5], "x" + AT_1000_MT, AT_1000_MT + " 5"])
def test_what_is_no_line_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not a line of activity;"):
        parse_activity(line)


@given(st.fixed_dictionaries({word: st.integers(0, 10**14).map(float) for word in WORDS}))
def test_four_digits_of_every_count_come_back(counted: dict[str, float]) -> None:
    again = parse_activity(activity_line(counted))
    for word, value in counted.items():
        # Half of the fourth digit, and what is read is a whole number.
        assert abs(again[word] - value) <= 5.1e-4 * value + 0.5


@given(st.text(max_size=200))
def test_any_text_is_a_line_or_refused(text: str) -> None:
    try:
        activity = parse_activity(text)
    except ValueError:
        return
    assert set(activity) == set(WORDS)
