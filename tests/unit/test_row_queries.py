"""Rows that queries of a workload's folder tell: the same ones however they are made."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import MagicMock

import pyarrow as pa
import pytest

from assay.model.errors import UsageError
from assay.running.asked.asking import understood
from assay.running.asked.request import RunRequest
from assay.running.server.starting import key_of
from assay.workloads import generate, row_queries, rules
from assay.workloads.contract import Workload
from assay.workloads.discovery import read_workload
from assay.workloads.operation_facts import Constant
from assay.workloads.row_queries import BATCH_ROWS, RowQuery

MANY_ROWS = 2 * BATCH_ROWS + 1
MANY = "select n, md5('row ' || n) as word from range(131073) as made (n)"
MANIFEST = """
generator = "sql"
tables = ["towns"]
[constants]
towns = { times_scale = 10 }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "workload.toml": MANIFEST,
        "q1.sql": "select count(*) as n from towns",
        "schema/tables.sql": "create table towns (town bigint not null);",
        "rows/towns.sql": "select town from range(${towns}) as made (town)",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def workload(folder: Path) -> Workload:
    return read_workload(folder)


class TestRowQuery:
    def test_rows_their_order_and_checksum_are_the_same_on_any_number_of_threads(self) -> None:
        made = [RowQuery(MANY, "rows/t.sql", threads) for threads in (1, 3)]
        tables = [pa.table(query) for query in made]
        assert tables[0].equals(tables[1])
        assert tables[0]["n"].to_pylist() == list(range(MANY_ROWS))
        assert len({query.checksum for query in made}) == 1

    def test_a_query_that_was_ended_fails_at_its_next_read(self) -> None:
        query = RowQuery(MANY, "rows/t.sql", 1)
        batches = pa.RecordBatchReader.from_stream(query)
        assert batches.read_next_batch().num_rows == query.rows == BATCH_ROWS
        query.end()
        with pytest.raises((pa.ArrowException, OSError)):
            batches.read_next_batch()
        assert query.rows == BATCH_ROWS

    def test_rows_are_counted_while_they_are_read(self) -> None:
        query = RowQuery(MANY, "rows/t.sql", 1)
        assert (query.rows, query.rows_expected) == (0, MANY_ROWS)
        reader = pa.RecordBatchReader.from_stream(query)
        reader.read_next_batch()
        assert query.rows == BATCH_ROWS
        reader.read_all()
        assert query.rows == query.rows_expected

    def test_another_value_is_another_checksum(self) -> None:
        made = [RowQuery(f"select {n} as n", "rows/t.sql", 1) for n in (1, 2)]
        assert [pa.table(query).num_rows for query in made] == [1, 1]
        assert made[0].checksum != made[1].checksum
        assert all(len(query.checksum) == 16 for query in made)

    def test_a_query_that_is_refused_is_told_with_its_file(self) -> None:
        with pytest.raises(
            UsageError, match=(r"rows/t\.sql: DuckDB reports an error in the query: .*nowhere")
        ):
            RowQuery("select * from nowhere", "rows/t.sql", 1)


class TestStrangeQueries:
    """A workload's folder may be a stranger's, and its queries run as the user of Assay."""

    @pytest.mark.parametrize(
        "query",
        [
            "select * from read_text('{file}')",
            "select * from read_csv('{file}')",
            "from query('from read_text(''{file}'')')",
            "select * from '{file}.csv'",
            "from glob('{file}*')",
        ],
    )
    def test_no_file_is_read(self, tmp_path: Path, query: str) -> None:
        file = tmp_path / "secret"
        file.write_text("n\n1\n", encoding="utf-8")
        (tmp_path / "secret.csv").write_text("n\n1\n", encoding="utf-8")
        with pytest.raises(UsageError, match=r"rows/t\.sql: .*not allowed .*secret.* `setup`"):
            RowQuery(query.format(file=file), "rows/t.sql", 1)

    @pytest.mark.parametrize(
        "text",
        [
            "copy (select 1 as n) to '{file}'",
            "copy (select 1 as n) to '{file}'; select 1 as n",
            "set log_query_path = '{file}'; select 1 as n",
            "attach '{file}' as other; select 1 as n",
            "from enable_logging(storage = 'file', storage_config = {{'path': '{file}'}})",
            "pragma log_query_path = '{file}'",
            "export database '{file}'",
        ],
    )
    def test_no_file_is_written(self, tmp_path: Path, text: str) -> None:
        file = tmp_path / "made"
        with pytest.raises(UsageError, match=r"rows/t\.sql: "):
            RowQuery(text.format(file=file), "rows/t.sql", 1)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("select 1; select 2", "the file has 2 statements, and exactly one query is allowed"),
            ("-- nothing", "the file has 0 statements"),
            ("install httpfs", "the statement is LOAD, and only a query is allowed"),
            ("create table t as select 1", "the statement is CREATE, and only a query is allowed"),
            ("select * from arrow_scan(1, 2, 3)", "the function arrow_scan is not allowed"),
            ("select * from self", "self does not exist"),
        ],
    )
    def test_anything_else_than_one_query_is_refused(self, text: str, reason: str) -> None:
        with pytest.raises(UsageError, match=reason):
            RowQuery(text, "rows/t.sql", 1)

    @pytest.mark.parametrize(
        ("query", "rows"),
        [
            ("select 1 as n;", [{"n": 1}]),
            ("-- of ours; all of it\nselect ';' as n", [{"n": ";"}]),
            ("with recursive r (n) as (select 1 union all select n + 1 from r where n < 2) from r",
             [{"n": 1}, {"n": 2}]),
            ("values (1)", [{"col0": 1}]),
            ("pivot (select 'a' as k, 2 as v) on k using sum(v)", [{"a": 2}]),
        ],
    )  # fmt: skip
    def test_a_query_may_be_written_in_any_way(self, query: str, rows: list[object]) -> None:
        assert pa.table(RowQuery(query, "rows/t.sql", 1)).to_pylist() == rows


class TestWorkload:
    def test_constants_stand_in_the_queries(self, workload: Workload) -> None:
        text = workload.row_queries(2.0)["towns"]
        assert text == "select town from range(20) as made (town)"

    def test_a_missing_file_is_told(self, folder: Path, workload: Workload) -> None:
        (folder / "rows" / "towns.sql").unlink()
        with pytest.raises(UsageError, match=r"rows/towns\.sql is missing"):
            workload.row_queries(1.0)

    def test_queries_define_the_workload(self, folder: Path, workload: Workload) -> None:
        before = workload.content_hash
        (folder / "rows" / "towns.sql").write_text("select 1 as town", encoding="utf-8")
        assert read_workload(folder).content_hash != before

    def test_another_generator_has_none(self, folder: Path) -> None:
        text = MANIFEST.replace('"sql"', '"tpch"')
        (folder / "workload.toml").write_text(text, encoding="utf-8")
        assert read_workload(folder).row_queries(1.0) == {}

    def test_a_refused_query_is_refused_before_anything_is_loaded(self, folder: Path) -> None:
        (folder / "rows" / "towns.sql").write_text("select town", encoding="utf-8")
        with pytest.raises(UsageError, match=r"rows/towns\.sql: DuckDB reports"):
            understood(RunRequest(workload=str(folder), engine="null", scale=1.0), MagicMock())

    def test_what_another_engine_made_is_not_what_was_kept(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = understood(RunRequest(workload=str(folder), engine="null", scale=1.0), MagicMock())
        before = key_of(asked).name
        monkeypatch.setattr(row_queries, "version", lambda: "duckdb 9.9.9")
        assert key_of(asked).name != before

    def test_refresh_sets_have_queries_too(self, folder: Path) -> None:
        refresh = (
            '[refresh]\ninsert = "in"\ndelete = "out"\norders = 3\nsetup = ["schema/sets.sql"]\n'
            'tables = ["towns_new"]\n'
        )
        (folder / "workload.toml").write_text(MANIFEST + refresh, encoding="utf-8")
        (folder / "schema" / "sets.sql").write_text("create table towns_new (n int);", "utf-8")
        (folder / "rows" / "towns_new.sql").write_text("select ${sets} * ${orders} as n", "utf-8")
        for name in ("in", "out"):
            (folder / f"{name}.sql").write_text("select ${set}", encoding="utf-8")
        made = read_workload(folder)
        assert set(made.row_queries(1.0)) == {"towns"}
        assert made.row_queries(1.0, sets=2)["towns_new"] == "select 2 * 3 as n"


def test_rows_come_from_where_the_generator_says() -> None:
    row_facts = {"generator": "sql", "scale": 1.0, "sets": 0, "queries": {"t": "select 1 as n"}}
    assert pa.table(generate.table_rows(row_facts, "t", 1)).to_pylist() == [{"n": 1}]
    row_facts = {"generator": "tpch", "scale": 0.01, "sets": 0, "queries": {}}
    assert pa.table(generate.table_rows(row_facts, "region", 1)).num_rows == 5


@pytest.mark.parametrize(
    ("scale", "count"),
    [(0.01, 2_000), (0.5, 100_000), (1, 200_000), (1.9, 200_000), (2, 400_000), (1000, 2_000_000)],
)
def test_what_grows_with_each_doubling(scale: float, count: int) -> None:
    """Oracle: the Star Schema Benchmark's 200,000 * floor(1 + log2 SF), in proportion below 1."""
    constant = Constant(times_log_scale=200_000)
    assert rules.constants_at({"parts": constant}, scale) == {"parts": str(count)}
