"""Lines of a run's progress: every part once, from its beginning to that of the next one."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from assay.cli.shared.progress import Progress


@pytest.fixture
def written() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def progress(written: io.StringIO) -> Progress:
    return Progress(Console(file=written, width=80, highlight=False))


def lines(written: io.StringIO) -> list[list[str]]:
    return [line.split() for line in written.getvalue().splitlines()]


def test_parts_are_as_long_as_their_beginnings_say(
    progress: Progress, written: io.StringIO
) -> None:
    """What is told late, such as parts that were over at once, takes no time from others."""
    begun_s = time.monotonic() - 100.0
    for name, after_s in (("start", 0), ("power-1", 2), ("throughput-1", 5), ("power-2", 5.25)):
        progress.phase(name, begun_s + after_s)
    progress.amount(3, 9, "operations")
    progress.phase("stop", begun_s + 6.25)
    assert lines(written) == [
        ["start", "2.00", "s"],
        ["power-1", "3.00", "s"],
        ["throughput-1", "250", "ms"],
        ["power-2", "1.00", "s"],
    ]


def test_a_part_is_one_line_however_often_it_is_told(
    progress: Progress, written: io.StringIO
) -> None:
    for _ in range(3):
        progress.phase("measured")
    progress.close()
    progress.close()
    assert [name for name, *_ in lines(written)] == ["measured"]


def test_the_rate_of_rows_is_that_of_the_whole_part(
    progress: Progress, written: io.StringIO
) -> None:
    begun_s = time.monotonic() - 100.0
    progress.phase("loading", begun_s)
    progress.amount(500, 1000, "rows")
    progress.amount(1000, 1000, "rows")
    progress.phase("stop", begun_s + 4)
    assert " ".join(lines(written)[0]) == "loading 4.00 s 1 k rows, 250 rows/s"
