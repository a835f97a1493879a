"""Rows that updates write are counted for some rows of values, and once without values."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assay.running.written_rows import VALUES_MAX, written_rows


class Reader:
    """Counts 10 rows to update, of which 3 change, at each call; or refuses."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.asked: list[list[object]] = []
        self._refuses = refuses

    def counts(
        self, query: str, values: Sequence[object], limit_s: float
    ) -> tuple[int, int] | None:
        assert "count" in query.lower()
        assert limit_s > 0
        self.asked.append(list(values))
        return None if self._refuses else (10, 3)


VALUES = [[number, -number] for number in range(8)]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("update items set price = $2", [[-number] for number in range(VALUES_MAX)]),
        ("update items set price = 7", [[]]),
        ("update items set price = price + 1", []),
    ],
)
def test_rows_are_counted_with_the_values_that_decide_on_them(
    text: str, asked: list[list[object]]
) -> None:
    reader = Reader()
    counted = written_rows(reader, ("raise", 0), text, VALUES, "postgres")
    assert reader.asked == asked
    numbers = None if counted is None else (counted.rows, counted.changed)
    assert numbers == ((10 * len(asked), 3 * len(asked)) if asked else None)


def test_a_refused_count_is_none() -> None:
    reader = Reader(refuses=True)
    assert written_rows(reader, ("raise", 0), "update items set a = 1", VALUES, None) is None
