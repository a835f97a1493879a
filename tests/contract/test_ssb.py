"""The Star Schema Benchmark's data and answers are what its text says of them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import duckdb
import pytest

from assay.analysis.answers.comparison import Expected, Tolerances, difference, read_expected
from assay.workloads.answers import answers_folder
from assay.workloads.contract import Workload
from assay.workloads.discovery import find_workload

SCALE = 0.1
DUCKDB = ("duckdb", "postgresql")
EXACT = Tolerances.of({}, 0.0, 0.0, SCALE)
LINES = """select lines, count(*)
from (select count(*) as lines from lineorder group by lo_orderkey) group by all"""
# Share of lineorder by the filter factors that the benchmark's text gives for each query.
FACTORS = {
    "q1_1": 1 / 7 * 0.47 * 3 / 11,
    "q1_2": 1 / 84 * 0.2 * 3 / 11,
    "q1_3": 1 / 364 * 0.2 * 3 / 11,
    "q2_1": 1 / 25 / 5,
    "q2_2": 1 / 125 / 5,
    "q2_3": 1 / 1000 / 5,
    "q3_1": 1 / 25 * 6 / 7,
    "q3_2": 1 / 625 * 6 / 7,
    "q4_1": 1 / 25 * 2 / 5,
    "q4_2": 1 / 25 * 2 / 5 * 2 / 7,
    "q4_3": 1 / 25 / 5 / 25 * 2 / 7,
}


@pytest.fixture(scope="module")
def ssb() -> Workload:
    return find_workload("ssb")


@pytest.fixture(scope="module")
def loaded(ssb: Workload) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for text in ssb.setup(DUCKDB, SCALE).values():
            connection.execute(text)
        for table, text in ssb.row_queries(SCALE).items():
            connection.sql(text).insert_into(table)
        yield connection


def first_row(connection: duckdb.DuckDBPyConnection, text: str) -> tuple[object, ...]:
    row = connection.execute(text).fetchone()
    assert row is not None
    return tuple(row)


def kept(ssb: Workload, scale: float, query: str) -> Expected:
    answers = answers_folder(ssb, scale)
    assert answers is not None
    return read_expected(answers / f"{query}.csv")


class TestRows:
    def test_tables_have_as_many_as_they_should(self, loaded: duckdb.DuckDBPyConnection) -> None:
        counted = {
            table: len(loaded.table(table)) for table in ("dates", "supplier", "customer", "part")
        }
        assert counted == {"dates": 2557, "supplier": 200, "customer": 3000, "part": 20_000}
        orders, lines = first_row(
            loaded, "select count(distinct lo_orderkey), count(*) from lineorder"
        )
        assert orders == 150_000
        assert lines == pytest.approx(600_000, rel=0.005)

    def test_every_key_leads_somewhere(self, loaded: duckdb.DuckDBPyConnection) -> None:
        joined = """select count(*) from lineorder
        join dates as ordered on lo_orderdate = ordered.d_datekey
        join dates as promised on lo_commitdate = promised.d_datekey
        join customer on lo_custkey = c_custkey join supplier on lo_suppkey = s_suppkey
        join part on lo_partkey = p_partkey"""
        assert first_row(loaded, joined) == first_row(loaded, "select count(*) from lineorder")

    def test_money_adds_up(self, loaded: duckdb.DuckDBPyConnection) -> None:
        wrong = """select count(*) from (
          select *, lo_extendedprice // lo_quantity as price,
            sum(lo_extendedprice * (100 - lo_discount) // 100 * (100 + lo_tax) // 100)
              over (partition by lo_orderkey) as total
          from lineorder
        ) where lo_revenue <> lo_extendedprice * (100 - lo_discount) // 100
          or lo_supplycost <> price * 6 // 10 or lo_ordtotalprice <> total
          or price <> 90000 + lo_partkey // 10 % 20001 + lo_partkey % 1000 * 100"""
        assert first_row(loaded, wrong) == (0,)

    @pytest.mark.parametrize(
        ("counting", "least", "most"),
        [
            ("select lo_quantity, count(*) from lineorder group by all", 1, 50),
            ("select lo_discount, count(*) from lineorder group by all", 0, 10),
            ("select lo_tax, count(*) from lineorder group by all", 0, 8),
            (LINES, 1, 7),
        ],
    )
    def test_values_are_equally_likely(
        self, loaded: duckdb.DuckDBPyConnection, counting: str, least: int, most: int
    ) -> None:
        """Chi-squared: its mean is the degrees of freedom, its deviation the root of twice them."""
        counted = dict(loaded.execute(counting).fetchall())
        assert (min(counted), max(counted), len(counted)) == (least, most, most - least + 1)
        mean = sum(counted.values()) / len(counted)
        squared = sum((count - mean) ** 2 / mean for count in counted.values())
        freedom = most - least
        assert squared < freedom + 5 * (2 * freedom) ** 0.5

    def test_columns_do_not_depend_on_each_other(self, loaded: duckdb.DuckDBPyConnection) -> None:
        columns = ["lo_custkey", "lo_partkey", "lo_suppkey", "lo_orderdate", "lo_quantity"]
        columns += ["lo_discount", "lo_tax"]
        pairs = [(a, b) for a in columns for b in columns if a < b]
        # Five deviations: of n independent pairs it is 1 / sqrt(n), an order counted once.
        correlation = "select abs(corr({}, {})) from lineorder"
        correlations = {pair: first_row(loaded, correlation.format(*pair))[0] for pair in pairs}
        assert max(correlations.values()) < 5 / 150_000**0.5

    def test_places_and_brands_are_trees(self, loaded: duckdb.DuckDBPyConnection) -> None:
        tree = (
            "select count(distinct {0}), count(distinct ({0}, {1})), count(distinct {1}) from {2}"
        )
        assert first_row(loaded, tree.format("c_city", "c_nation", "customer")) == (250, 250, 25)
        assert first_row(loaded, tree.format("c_nation", "c_region", "customer")) == (25, 25, 5)
        assert first_row(loaded, tree.format("p_brand1", "p_category", "part")) == (1000, 1000, 25)
        assert first_row(loaded, tree.format("p_category", "p_mfgr", "part")) == (25, 25, 5)
        apart = "select count(*) from customer where left(c_nation, 9) <> rtrim(left(c_city, 9))"
        assert first_row(loaded, apart) == (0,)

    def test_days_are_those_of_the_calendar(self, loaded: duckdb.DuckDBPyConnection) -> None:
        text = """select d_dayofweek, d_month, d_yearmonth, d_weeknuminyear, d_lastdayinmonthfl,
          d_daynuminyear, d_sellingseason from dates where d_date = 'February 29, 1996'"""
        assert first_row(loaded, text) == ("Thursday", "February", "Feb1996", 9, 1, 60, "Winter")

    @pytest.mark.parametrize("query", FACTORS)
    def test_queries_select_the_share_that_they_should(
        self, ssb: Workload, loaded: duckdb.DuckDBPyConnection, query: str
    ) -> None:
        text = ssb.statement(query, DUCKDB, SCALE).text
        counting = re.sub(r"(?s)select .*?\nfrom", "select count(*) from", text)
        (count,) = first_row(loaded, re.sub(r"(?s)\n(group|order) by.*", "", counting))
        expected = FACTORS[query] * 600_000
        # A city or nation has more or fewer suppliers than its share: there are 200.
        margin = 0.1 if query.startswith("q1") or query == "q4_1" else 0.75
        assert count == pytest.approx(expected, rel=margin, abs=30)


class TestAnswers:
    """Oracles: DuckDB and SQLite. DataFusion made what is kept."""

    def test_duckdb_says_what_is_kept(
        self, ssb: Workload, loaded: duckdb.DuckDBPyConnection
    ) -> None:
        for query in ssb.facts.order:
            rows = loaded.execute(ssb.statement(query, DUCKDB, SCALE).text).fetchall()
            assert difference(rows, kept(ssb, SCALE, query), EXACT) is None, query

    def test_sqlite_says_what_is_kept(self, ssb: Workload) -> None:
        scale = 0.01
        with closing(sqlite3.connect(":memory:")) as lite:
            for text in ssb.setup(("sqlite",), scale).values():
                lite.executescript(text)
            for table, text in ssb.row_queries(scale).items():
                rows = duckdb.sql(text).fetchall()
                places = ", ".join("?" * len(rows[0]))
                insert = "insert into {} values ({})"
                lite.executemany(insert.format(table, places), rows)
            for query in ssb.facts.order:
                table_rows = lite.execute(ssb.statement(query, ("sqlite",), scale).text).fetchall()
                assert difference(table_rows, kept(ssb, scale, query), EXACT) is None, query

    def test_at_sf_1_every_query_has_rows(self, ssb: Workload) -> None:
        assert [query for query in ssb.facts.order if not kept(ssb, 1.0, query).rows] == []
