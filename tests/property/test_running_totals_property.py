"""Running totals by window functions are those of subqueries and joins, with nulls and ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.workloads.rewriting import without
from assay.workloads.rewriting.declared import declared_tables
from tests.in_memory import ENGINES, tables_in

TABLE = (
    "create table t (id integer not null primary key, g integer, k integer, d integer not null,"
    " w varchar)"
)
Row = tuple[int | None, int | None, int, str | None]
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(0, 2),
        st.none() | st.integers(0, 4),
        st.integers(-1, 2),
        st.none() | st.sampled_from(["x", "y", "z"]),
    ),
    max_size=9,
)
TOTALS = ["sum(s.k)", "count(*)", "count(s.w)", "min(s.w)", "max(s.d)", "avg(s.k)", "sum(s.d * 2)"]
KEYS, GROUPS = ["k", "d", "id", "w"], ["g", "d", "w"]
CONDITIONS = ["{}.d > 0", "{}.w = 'x'", "{}.g is null", "{}.k in (1, 2)", "{}.d + {}.k < 3"]
FILTERS = ["r.g between 1 and 2", "g is not null", "r.d = 0 or r.d > 1", "not w = 'x'"]


def some(lines: Sequence[str], least: int = 0, most: int = 2) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(lines), unique=True, min_size=least, max_size=most)


@st.composite
def compared(draw: st.DrawFn, operators: Sequence[str]) -> list[str]:
    """Return the conditions on a row s that is before a row r."""
    key, operator = draw(st.sampled_from(KEYS)), draw(st.sampled_from(operators))
    mirrored = operator.translate(str.maketrans("<>", "><"))
    before = draw(st.sampled_from([f"s.{key} {operator} r.{key}", f"r.{key} {mirrored} s.{key}"]))
    return [before, *(f"r.{group} = s.{group}" for group in draw(some(GROUPS)))]


@st.composite
def subqueries(draw: st.DrawFn) -> str:
    conditions = draw(compared(["<", "<=", ">", ">="]))
    kept = [one.replace("{}", "s") for one in draw(some(CONDITIONS))]
    shape = draw(st.sampled_from(["{}", "coalesce({}, 0)", "{} + r.d", "{} - count(*)"]))
    number = [total for total in TOTALS if "w)" not in total]
    total = draw(st.sampled_from(TOTALS if shape == "{}" else number))
    inner = shape.format(total)
    where = " and ".join(draw(st.permutations([*conditions, *kept])))
    shown = " ".join(("(select", inner, "from t s where", where, ") as total"))
    filters = [one.replace("{}", "r") for one in draw(some(CONDITIONS, most=1))]
    filters += [*draw(some(FILTERS, most=1)), *(one.replace("s.", "r.") for one in kept)]
    chosen = draw(some(filters)) if filters else []
    end = f" where {' and '.join(f'({one})' for one in chosen)}" if chosen else ""
    return " ".join(("select r.id, w,", shown, "from t r", end, "order by r.id, total"))


@st.composite
def joins(draw: st.DrawFn) -> str:
    conditions = draw(compared(["<=", ">="]))
    filters = [one.replace("{}", "r") for one in draw(some(CONDITIONS, most=1))]
    filters += draw(some(FILTERS[:1], most=1))
    totals = [f"{total} as m{place}" for place, total in enumerate(draw(some(TOTALS, 1)))]
    shown, where = ", ".join(totals), " and ".join([*conditions, *filters])
    end = "group by r.id, r.d order by r.id"
    return " ".join(("select r.id, r.d,", shown, "from t r, t s where", where, end))


def rows_of(connected: Any, sql: str) -> list[str]:
    return sorted(map(repr, connected.execute(sql).fetchall()))


def check(rows: Sequence[Row], asked: str, *, declared: bool = True) -> None:
    filled = {"t": (TABLE, [(number, *row) for number, row in enumerate(rows)])}
    for engine in ENGINES:
        tables = declared_tables((TABLE,), (engine,)) if declared else {}
        rewritten = without(asked, (engine,), ["running-total"], tables).text
        assert "OVER (" in rewritten
        with tables_in(engine, filled) as connected:
            assert rows_of(connected, rewritten) == rows_of(connected, asked), rewritten


@given(ROWS, subqueries(), st.booleans())
@settings(max_examples=80, deadline=None)
def test_a_window_has_the_totals_of_a_subquery(
    rows: Sequence[Row], asked: str, declared: bool
) -> None:
    check(rows, asked, declared=declared)


@given(ROWS, joins())
@settings(max_examples=60, deadline=None)
def test_a_window_has_the_totals_of_a_join_with_itself(rows: Sequence[Row], asked: str) -> None:
    check(rows, asked)
