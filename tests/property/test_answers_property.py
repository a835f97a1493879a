"""Whatever the rows are: they equal themselves, and a changed cell of an exact column is found."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.answers.comparison import Expected, Tolerances, difference

TOLERANCES = Tolerances.of({}, 100.0, 0.01, 1.0)

texts = st.text(st.characters(codec="utf-8", exclude_characters="|\n\r"), max_size=8).map(
    lambda text: text.rstrip(" ") or "x"
)
decimals = st.decimals(
    allow_nan=False, allow_infinity=False, places=2, min_value=-(10**36), max_value=10**36
)
cells = st.one_of(st.none(), texts, st.integers(-(10**38), 10**38), decimals)


@st.composite
def row_sets(draw: st.DrawFn) -> list[tuple[object, ...]]:
    width = draw(st.integers(1, 4))
    return draw(st.lists(st.tuples(*[cells] * width), min_size=1, max_size=6))


def as_expected(rows: list[tuple[object, ...]]) -> Expected:
    columns = tuple(f"c{number}" for number in range(len(rows[0])))
    return Expected(
        columns, tuple(tuple(None if cell is None else str(cell) for cell in row) for row in rows)
    )


@given(row_sets())
def test_a_row_set_equals_itself(rows: list[tuple[object, ...]]) -> None:
    assert difference(rows, as_expected(rows), TOLERANCES) is None


def changed(cell: object) -> object:
    match cell:
        case None:
            return "not null"
        case str():
            return cell + "!"
        case Decimal():
            return Decimal(f"{cell:f}"[:-1] + str((int(f"{cell:f}"[-1]) + 1) % 10))
        case int():
            return cell + 1
    raise AssertionError(cell)


@given(row_sets(), st.data())
def test_any_changed_exact_cell_is_found(
    rows: list[tuple[object, ...]], data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(rows[0]) - 1))
    wrong = [list(row) for row in rows]
    wrong[number][column] = changed(rows[number][column])
    mismatch = difference(wrong, as_expected(rows), TOLERANCES)
    assert mismatch is not None
    assert mismatch.startswith(f"row {number + 1}, c{column}: ")
