"""Numbers as people read them: three digits, a unit, and 'not measured' for what was not."""

from __future__ import annotations

import pytest

from assay.model.units import (
    bytes_text,
    count_text,
    number_of,
    parse_bytes,
    parse_duration_s,
    percent_text,
    seconds_text,
    size_bytes,
    whole_number,
)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "not measured"),
        (0.0, "0 s"),
        (3.2e-8, "32 ns"),
        (0.00012, "120 µs"),
        (0.014, "14 ms"),
        (1.5, "1.50 s"),
        (12.3456, "12.3 s"),
        (1234.5, "1234 s"),
    ],
)
def test_seconds(seconds: float | None, text: str) -> None:
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (None, "not measured"),
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (1 << 20, "1 MiB"),
        (1010 * (1 << 20), "1010 MiB"),
        (5 * (1 << 40), "5 TiB"),
    ],
)
def test_bytes_in_binary_units(count: float | None, text: str) -> None:
    assert bytes_text(count) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (None, "not measured"),
        (0, "0"),
        (999, "999"),
        (1234, "1.23 k"),
        (999_900, "1 M"),
        (2.5e9, "2.5 G"),
    ],
)
def test_counts(count: float | None, text: str) -> None:
    assert count_text(count) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(None, "not measured"), (0.0, "0 %"), (0.034, "3.4 %"), (0.5, "50 %"), (1.0, "100 %")],
)
def test_shares(share: float | None, text: str) -> None:
    assert percent_text(share) == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30.0), ("1.5m", 90.0), ("200ms", 0.2), ("2h", 7200.0), ("7", 7.0), ("0", 0.0)],
)
def test_durations_with_their_units(text: str, seconds: float) -> None:
    assert parse_duration_s(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "-1s", "inf", "nan", "3 weeks", "1e400s", "5mms"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_duration_s(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("8192", 8192), ("256MB", 256 << 20), ("2 GiB", 2 << 30), ("1.5k", 1536), ("1tb", 1 << 40)],
)
def test_sizes_with_their_units(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "MB", "0", "-1", "1.2.3", "ten", "3 weeks"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        parse_bytes(text)


def test_what_rounds_up_to_the_next_unit_is_of_it() -> None:
    assert [seconds_text(seconds) for seconds in (0.9994, 0.9998, 0.9999e-3, 99.97)] == [
        "999 ms",
        "1.00 s",
        "1 ms",
        "100 s",
    ]


@pytest.mark.parametrize(
    ("text", "number"), [("4", 4.0), ("-1.5", -1.5), ("4MB", 4 << 20), ("on", None), ("", None)]
)
def test_a_setting_is_a_number_a_size_or_neither(text, number):
    assert number_of(text) == number


@pytest.mark.parametrize("text", ["", "-1", "1.5", "1e3", "x", "9" * 31, "9" * 5000])
def test_what_is_no_whole_number(text: str) -> None:
    assert whole_number(text) is None


def test_whole_numbers() -> None:
    assert (whole_number(" 42 "), whole_number("9" * 30)) == (42, 10**30 - 1)


@pytest.mark.parametrize("size", ["9" * 320 + "GB", "9" * 5000, "16777217TB"])
def test_no_size_is_larger_than_16_eib(size: str) -> None:
    assert size_bytes(size) is None
    with pytest.raises(ValueError, match="is not a size"):
        parse_bytes(size)


def test_the_largest_size() -> None:
    assert size_bytes("16777216TB") == size_bytes("18446744073709551615") == 1 << 64
