"""Statements that write by a setting, a name or a text that hides it, and their honest twins."""

from __future__ import annotations

import re
from pathlib import Path

import apsw
import duckdb
import pytest

from assay.engines.contract import Instance, Place
from assay.engines.discovery import find_engine
from assay.workloads.effect_facts import effect_facts
from assay.workloads.effects import effect_of
from tests.unit.test_effects import DUCKDB, MARIADB, MYSQL, POSTGRESQL, SQLITE

SPARK, TRINO, DOLTGRES = ("spark",), ("trino",), ("doltgres", "postgresql")
CLICKHOUSE = ("clickhouse",)

HONEST = [
    (DUCKDB, "set threads = 2"),
    (DUCKDB, "set global memory_limit = '1GB'"),
    (DUCKDB, "set \"TimeZone\" = 'UTC'"),
    (DUCKDB, "set schema = 'shop'"),
    (DUCKDB, "set search_path = 'shop,main'"),
    (DUCKDB, "set variable log_query_path = 3"),
    (DUCKDB, "reset threads"),
    (DUCKDB, "pragma threads = 2"),
    (DUCKDB, "pragma disable_optimizer"),
    (DUCKDB, "pragma table_info('t')"),
    (DUCKDB, "from read_csv('rows.csv')"),
    (DUCKDB, "from query('select 1')"),
    (DUCKDB, "select 'enable_logging()', log_query_path from t"),
    (DUCKDB, "begin transaction read only"),
    (MARIADB, "set statement max_statement_time = 10 for select 1"),
    (MARIADB, "set statement max_statement_time = 10, lock_wait_timeout = 1 for (select 1)"),
    (MARIADB, "set session max_statement_time = 10"),
    (MYSQL, "set @n = @@global.max_connections"),
    (MYSQL, "set names utf8mb4 collate utf8mb4_bin"),
    (MYSQL, "set character_set_client = utf8"),
    (MYSQL, "set sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE', time_zone = '+00:00'"),
    (MYSQL, "set @@session.sql_mode = concat(@@sql_mode, ',STRICT_ALL_TABLES')"),
    (MYSQL, "set session sql_mode = (select replace(@@sql_mode, 'ONLY_FULL_GROUP_BY', ''))"),
    (MYSQL, "start transaction with consistent snapshot, read only"),
    (POSTGRESQL, "select set_config('work_mem', '1MB', true)"),
    (POSTGRESQL, "select set_config($$work_mem$$, '1' || 'MB', true)"),
    (POSTGRESQL, "set standard_conforming_strings = on"),
    (POSTGRESQL, "set client_min_messages = debug"),
    (POSTGRESQL, "set client_encoding to 'UTF8'"),
    (POSTGRESQL, "begin isolation level repeatable read, read only, not deferrable"),
    (POSTGRESQL, "select U&'d\\0061t', u & \"x\" from t"),
    (POSTGRESQL, "select E'it\\'s lo_export(1)', \"lo_export\" from t"),
    (POSTGRESQL, "explain select nextval from t"),
    (POSTGRESQL, "explain insert into t values (nextval('s'))"),
    (POSTGRESQL, "explain select pragma, (1) from t"),
    (POSTGRESQL, "select * from crosstab('select a, b, c from t', $$select 'x'$$) as c (a int)"),
    (POSTGRESQL, "select query_to_xml('select a from t', true, false, '')"),
    (POSTGRESQL, "select * from ts_stat('select words from t')"),
    (POSTGRESQL, "select query(a), system from t"),
    (SQLITE, "explain pragma table_info('t')"),
    (SQLITE, "select * from pragma_table_info('t')"),
    (SQLITE, "begin immediate"),
    (TRINO, "select * from table(pg.system.query(query => 'select 1'))"),
    (TRINO, "set session query_max_run_time = '1m'"),
    (SPARK, "select transform(a, x -> x + 1) from t join u using (a)"),
    (SPARK, "from t select a"),
]
WRITING = [
    (MARIADB, "set statement max_statement_time=10 for insert into t values (1)", "insert adds"),
    (MARIADB, "set statement max_statement_time=10 for drop table t", "drop changes the schema"),
    (MARIADB, "set statement a=(select 1 for update), b=2 for delete from t", "delete removes"),
    (MARIADB, "set statement a=1 for set statement b=2 for update t set a=1", "update changes"),
    (MARIADB, "set statement tx_read_only=0 for select 1", "write again"),
    (MYSQL, "set @x = 1, global max_connections = 1", "set global changes the server"),
    (MYSQL, "set @x = 1, @@persist.max_connections = 1", "changes the server"),
    (MYSQL, "set default role r to u", "changes the server"),
    (MYSQL, "set session debug = 'd:t:o,/tmp/x'", "has the server write a file"),
    (MYSQL, "select group_replication_set_as_primary('x')", "changes replication"),
    (MYSQL, "explain select * from t where a = sys_exec('touch /tmp/x')", "sys_exec() runs code"),
    (POSTGRESQL, "select set_config('Default_Transaction_Read_Only', 'off', false)", "write again"),
    (POSTGRESQL, "select set_config($$transaction_read_only$$, 'off', false)", "write again"),
    (POSTGRESQL, "reset transaction_read_only", "write again"),
    (POSTGRESQL, "select \"lo_export\"(1, '/tmp/x')", "lo_export() writes a file"),
    (
        POSTGRESQL,
        "select pg_catalog . lo_export /* x */ (1, '/tmp/x')",
        "lo_export() writes a file",
    ),
    (POSTGRESQL, "select E'\\'', lo_export(1, '/tmp/x')", "lo_export() writes a file"),
    (POSTGRESQL, "select query_to_xml('delete from t', true, true, '')", "delete removes rows"),
    (
        POSTGRESQL,
        "select * from crosstab($$select lo_export(1, '/tmp/x')$$) as c (a int)",
        "writes",
    ),
    (POSTGRESQL, "select pg_restore_relation_stats('relation', 't')", "changes statistics"),
    (POSTGRESQL, "commit prepared 'x'", "ends a transaction of others"),
    (POSTGRESQL, "explain analyze delete from t", "executes it: delete"),
    (SQLITE, "explain pragma query_only = 0", "write again"),
    (SQLITE, "explain query plan pragma main.query_only(0)", "write again"),
    (SQLITE, "pragma 'query_only' = 0", "write again"),
    (SQLITE, "pragma 'optimize'", "pragma optimize changes"),
    (SQLITE, "select * from pragma_optimize", "pragma_optimize changes"),
    (SQLITE, 'select * from "pragma_optimize"', "pragma_optimize changes"),
    (SQLITE, "vacuum into 'x.db'", "vacuum rewrites"),
    (SQLITE, "select [load_extension]('x')", "load_extension() runs code"),
    (DUCKDB, "from enable_logging(storage_path = '/tmp/x')", "writes or empties a file"),
    (DUCKDB, "from query('from enable_logging()')", "query(): enable_logging() writes"),
    (DUCKDB, "pragma log_query_path = '/tmp/x'", "pragma log_query_path changes"),
    (DUCKDB, "pragma force_checkpoint", "pragma force_checkpoint changes"),
    (DUCKDB, "from arrow_scan(1, 2, 3)", "reads memory"),
    (DUCKDB, "export database 'x'", "changes more"),
    (DUCKDB, "install httpfs", "changes more"),
    (DOLTGRES, "select dolt_commit('-Am', 'x')", "changes the versions"),
    (TRINO, "select * from table(pg.system.query(query => 'delete from t'))", "delete removes"),
    (SPARK, "from t insert into u select a", "insert within it"),
    (SPARK, "from t insert overwrite local directory '/tmp/x' select a", "insert within it"),
    (SPARK, "with w as (select 1) from w insert into u select *", "insert within it"),
    (SPARK, "select transform(a) using 'touch /tmp/x' from t", "runs a program"),
    (SPARK, "from t map a using 'touch /tmp/x'", "runs a program"),
    (SPARK, "select reflect('java.lang.System', 'exit', '1')", "reflect() runs code"),
    (CLICKHOUSE, "select * from executable('x', 'TSV', 'a int')", "runs code"),
]
UNKNOWN = [
    (DUCKDB, "set log_query_path = '/tmp/x'", "set log_query_path may name a file"),
    (DUCKDB, "set session \"profiling_output\" = '/tmp/x'", "set profiling_output may name"),
    (DUCKDB, "set global temp_directory = '/tmp/x'", "set temp_directory may name"),
    (DUCKDB, "set logging_storage = 'file'", "set logging_storage may name"),
    (DUCKDB, "set allow_unsigned_extensions = true", "allow later statements more"),
    (DUCKDB, "reset lock_configuration", "allow later statements more"),
    (DUCKDB, "from query(getvariable('text'))", "query() executes a text"),
    (DUCKDB, "from json_execute_serialized_sql('{}')", "executes a text"),
    (MARIADB, "set statement max_statement_time = 10", "has no statement"),
    (MARIADB, "set statement a = 1 for call f()", "call runs a procedure"),
    (MARIADB, "begin not atomic delete from t; end", "begins more than a transaction"),
    (MYSQL, "start replica", "begins more than a transaction"),
    (MYSQL, "set sql_mode = 'ansi_quotes'", "set sql_mode to this value changes how"),
    (MYSQL, "set @@session.sql_mode = concat('ansi_', 'quotes')", "changes how"),
    (MYSQL, "set sql_mode = @mode", "changes how"),
    (MYSQL, "set sql_mode = 4", "changes how"),
    (MYSQL, "set names gbk", "set names changes how"),
    (MYSQL, "set character set 'sjis'", "changes how"),
    (POSTGRESQL, "select set_config('default_transaction_' || 'read_only', 'off', false)", "named"),
    (POSTGRESQL, "select set_config('default_transaction_'\n'read_only', 'off', false)", "named"),
    (POSTGRESQL, "select set_config(E'default_transaction_read_onl\\x79', 'off', false)", "named"),
    (POSTGRESQL, "select set_config(U&'default_transaction_read_onl\\0079', 'off', true)", "named"),
    (POSTGRESQL, "select set_config('default_transaction_read_onl\\171', 'off', false)", "named"),
    (POSTGRESQL, "select set_config(name, 'off', false) from t", "named"),
    (POSTGRESQL, "select \"set_config\"($1, 'off', false)", "named"),
    (POSTGRESQL, "select set_config('standard_conforming_strings', 'off', false)", "changes how"),
    (POSTGRESQL, "set standard_conforming_strings = off", "changes how"),
    (POSTGRESQL, "set client_encoding = 'SJIS'", "changes how"),
    (POSTGRESQL, "select U&\"lo_expor\\0074\"(1, '/tmp/x')", "without escapes"),
    (POSTGRESQL, "select u&\"lo_expor!0074\" uescape '!' (1, '/tmp/x')", "without escapes"),
    (POSTGRESQL, 'explain (U&"analyz\\0065") delete from t', "without escapes"),
    (POSTGRESQL, 'set U&"default_transaction_read_onl\\0079" = off', "without escapes"),
    (POSTGRESQL, "select query_to_xml('dele' || 'te from t', true, true, '')", "executes a text"),
    (POSTGRESQL, "select * from ts_stat(E'select lo_expor\\x74(1)')", "executes a text"),
    (POSTGRESQL, "prepare gone as delete from t", "does not stand here"),
    (POSTGRESQL, "explain analyze execute gone", "does not stand here"),
    (MYSQL, "handler t open", "does not stand here"),
    (TRINO, "execute immediate 'delete from t'", "does not stand here"),
    (SPARK, "begin delete from t; end", "begins more than a transaction"),
    (SPARK, "set spark.sql.ansi.doubleQuotedIdentifiers = true", "changes how"),
]


@pytest.mark.parametrize(("dialects", "text"), HONEST)
def test_an_honest_statement_reads(dialects: tuple[str, ...], text: str) -> None:
    effect = effect_of(text, dialects)
    assert effect.kind == "reads", effect


@pytest.mark.parametrize(
    ("kind", "dialects", "text", "reason"),
    [("writes", *row) for row in WRITING] + [("unknown", *row) for row in UNKNOWN],
)
def test_a_disguised_statement_does_not_read(
    kind: str, dialects: tuple[str, ...], text: str, reason: str
) -> None:
    effect = effect_of(text, dialects)
    assert effect.kind == kind
    assert reason in effect.reason


def test_a_setting_that_hides_texts_is_not_rolled_back() -> None:
    for dialects, text, _ in UNKNOWN:
        if text.startswith("set ") and "call" not in text:
            assert effect_of(text, dialects).rollback == "ends", text


class TestDuckdbFile:
    """Oracle: DuckDB itself, with a file that Assay opens for reading."""

    @pytest.fixture
    def instance(self, tmp_path: Path) -> Instance:
        file = tmp_path / "shop.duckdb"
        (tmp_path / "more.csv").write_text("n\n1\n2\n", encoding="utf-8")
        with duckdb.connect(file) as connection:
            connection.execute("create table t as select 1 as a")
            connection.execute(f"create view v as from read_csv('{tmp_path}/more.csv')")
        engine = find_engine("duckdb").engine()
        return engine.start(Place(tmp_path, tmp_path, file, reads_only=True), {})  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        "text",
        [
            "set log_query_path = '{file}'",
            "pragma log_query_path = '{file}'",
            "set profiling_output = '{file}.json'",
            "from enable_logging(storage = 'file', storage_path = '{file}')",
            "from query('from enable_logging(storage = ''file'', storage_path = ''{file}'')')",
            "set lock_configuration = false",
            "set allowed_configs = ['log_query_path']",
        ],
    )
    def test_no_setting_writes_a_file(self, instance: Instance, tmp_path: Path, text: str) -> None:
        before = set(tmp_path.iterdir())
        with pytest.raises(duckdb.Error, match="the configuration has been locked"):
            instance.handle.cursor().execute(text.format(file=tmp_path / "written"))
        instance.handle.execute("select 1")
        instance.handle.close()
        assert set(tmp_path.iterdir()) == before

    def test_honest_statements_and_plans_go_on(self, instance: Instance) -> None:
        engine = find_engine("duckdb").engine()
        cursor = instance.handle.cursor()
        for dialects, text in HONEST:
            if dialects == DUCKDB and text.startswith(("set", "pragma", "reset", "from query")):
                cursor.execute(text.replace("shop", "main"))
        assert cursor.execute("select sum(n) from v").fetchall() == [(3,)]
        reader = engine.plan_reader(instance)  # type: ignore[attr-defined]
        explained = list(reader.explain([("select sum(n) from v", ())], 10.0))
        assert explained[0].reason is None
        assert engine.effective_settings(instance)["lock_configuration"] == "true"

    def test_the_engine_and_the_check_of_the_text_have_the_same_settings(self) -> None:
        file = find_engine("duckdb").folder / "conf" / "reading_only.sql"
        listed = re.findall(r"'(\w+)'", file.read_text(encoding="utf-8"))
        assert set(listed) == effect_facts().sets["harmless_settings"]

    def test_no_harmless_setting_names_a_file_or_allows_something(self) -> None:
        strange = re.compile(
            r"allow|access|_path|secret|^log|directory$|profil\w*_output|extension"
        )
        names = effect_facts().sets["harmless_settings"] - {"search_path"}
        assert [name for name in names if strange.search(name)] == []
        with duckdb.connect() as connection:
            rows = connection.execute("select lower(name) from duckdb_settings()").fetchall()
        assert names <= {name for (name,) in rows}


@pytest.mark.parametrize("text", [text for dialects, text, _ in WRITING if dialects == SQLITE][:3])
def test_sqlite_lets_these_write_again(text: str) -> None:
    """Oracle: SQLite itself, whose pragma has an effect although it is only explained."""
    connection = apsw.Connection(":memory:")
    connection.execute("pragma query_only = 1")
    list(connection.execute(text))
    assert list(connection.execute("pragma query_only")) == [(0,)]
    connection.close()
