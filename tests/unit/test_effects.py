"""What statements do, by their words: reads, writes, and what a rollback undoes."""

from __future__ import annotations

import pytest

from assay.workloads.discovery import find_workload
from assay.workloads.effects import effect_of
from assay.workloads.scripts import statements

POSTGRESQL = ("postgresql",)
MYSQL = ("mysql",)
MARIADB = ("mariadb", "mysql")
SQLITE = ("sqlite",)
DUCKDB = ("duckdb", "postgresql")

READING = [
    (POSTGRESQL, "select * from t where a = $1"),
    (POSTGRESQL, "(select a from t) union all values (1)"),
    (POSTGRESQL, "with w as (select * from t) select * from w"),
    (POSTGRESQL, "table t"),
    (POSTGRESQL, "-- delete from t\nselect 'insert into t', $$drop table t$$ /* truncate t */"),
    (POSTGRESQL, 'select t.update, "delete" from t'),
    (POSTGRESQL, "select replace(a, 'x', 'y'), count(*) from t"),
    (POSTGRESQL, "explain insert into t values (1)"),
    (POSTGRESQL, "explain (costs off) select 1"),
    (POSTGRESQL, "explain analyze select 1"),
    (POSTGRESQL, "copy (select 1) to stdout"),
    (POSTGRESQL, "set search_path to shop"),
    (POSTGRESQL, "select set_config('work_mem', '1MB', true)"),
    (POSTGRESQL, "begin read only"),
    (POSTGRESQL, "select nextval from t"),
    (MYSQL, "select a into @x from t"),
    (MYSQL, "select insert('abc', 1, 1, 'x'), truncate(1.5, 0)"),
    (MYSQL, "show tables"),
    (MYSQL, "select 1 /* drop table t */ # delete from t"),
    (MYSQL, "select '/*! delete from t */'"),
    (MARIADB, "analyze format=json select 1"),
    (SQLITE, "pragma table_info('t')"),
    (SQLITE, "pragma cache_size = 100"),
    (SQLITE, "select 1 /* delete from t"),
    (DUCKDB, "from t select a"),
    (DUCKDB, "summarize t"),
    (("clickhouse",), "select 1"),
    (("sparql",), "select ?s where { ?s ?p 'insert data' } # clear all"),
    (("sparql",), "prefix add: <http://x/drop/> select ?create where { ?create add:load ?o }"),
]
WRITING = [
    (POSTGRESQL, "insert into t values (1)", "insert adds rows"),
    (POSTGRESQL, "with x as (delete from t returning *) select * from x", "delete within it"),
    (POSTGRESQL, "with x as (select 1) update t set a = 1", "update within it"),
    (POSTGRESQL, "select * into y from t", "makes a table"),
    (POSTGRESQL, "select * from t for update", "for update locks"),
    (POSTGRESQL, "select * from t for no key update", "for no key locks"),
    (POSTGRESQL, "select nextval('s')", "nextval() takes"),
    (POSTGRESQL, "select pg_catalog.\"nextval\"('s')", "nextval() takes"),
    (POSTGRESQL, "select setval('s', 1)", "setval() sets"),
    (POSTGRESQL, "select lo_create(0)", "large object"),
    (POSTGRESQL, "select pg_terminate_backend(pid) from pg_stat_activity", "work of others"),
    (POSTGRESQL, "select * from dblink('x', 'delete from t') as d (a int)", "another server"),
    (POSTGRESQL, "explain analyze insert into t values (1)", "explain analyze executes it: insert"),
    (POSTGRESQL, "explain (buffers, analyze) delete from t", "explain analyze executes it: delete"),
    (POSTGRESQL, "copy t from stdin", "copy adds rows"),
    (POSTGRESQL, "copy (select 1) to program 'touch /tmp/x'", "runs a program"),
    (POSTGRESQL, "copy (delete from t returning *) to stdout", "delete within it"),
    (POSTGRESQL, "set transaction read write", "write again"),
    (POSTGRESQL, "set session characteristics as transaction read write", "write again"),
    (POSTGRESQL, "set default_transaction_read_only = off", "write again"),
    (POSTGRESQL, "select set_config('transaction_read_only', 'off', true)", "write again"),
    (POSTGRESQL, "begin read write", "write again"),
    (POSTGRESQL, "vacuum t", "files of the server"),
    (POSTGRESQL, "analyze t", "writes statistics"),
    (POSTGRESQL, "select 1; drop table t", "drop changes the schema"),
    (POSTGRESQL, "notify x", "notification"),
    (POSTGRESQL, "alter system set work_mem = '1MB'", "alter changes"),
    (MYSQL, "/*!50000 delete from t */", "delete removes rows"),
    (MYSQL, "select 1 /*!50000 into outfile '/tmp/x' */", "into outfile"),
    (MYSQL, "select 1 /* /* */ into outfile '/tmp/x' -- */", "into outfile"),
    (MYSQL, "select 1 --1 into outfile '/tmp/x'", "into outfile"),
    (MARIADB, "select 1 /*M! into dumpfile '/tmp/x' */", "into dumpfile"),
    (MARIADB, "select next value for s", "sequence"),
    (MARIADB, "analyze format=json update t set a = 1", "executes it: update"),
    (MYSQL, "replace into t values (1)", "adds or changes rows"),
    (MYSQL, "load data infile 'x' into table t", "load data adds rows"),
    (MYSQL, "set global max_connections = 1", "changes the server"),
    (MYSQL, "set @@global.max_connections = 1", "changes the server"),
    (MYSQL, "select * from t lock in share mode", "lock in share locks"),
    (MYSQL, "select get_lock('x', 1)", "lock that other clients wait for"),
    (MYSQL, "kill 3", "work of others"),
    (SQLITE, "pragma user_version = 3", "pragma user_version changes"),
    (SQLITE, "pragma main.journal_mode(wal)", "pragma journal_mode changes"),
    (SQLITE, "pragma query_only = 0", "write again"),
    (SQLITE, "attach 'x.db' as x", "attach changes"),
    (SQLITE, "/* /* */ delete from t -- */", "delete removes rows"),
    (DUCKDB, "copy t to 'x.parquet'", "writes a file"),
    (("sparql",), "prefix x: <http://x/> insert data { x:a x:b x:c }", "insert changes"),
    (("sparql",), "CLEAR ALL", "clear changes"),
]
UNKNOWN = [
    (POSTGRESQL, "call f()"),
    (POSTGRESQL, "do $$ begin delete from t; end $$"),
    (POSTGRESQL, "execute p"),
    (MYSQL, "prepare p from 'delete from t'"),
    (POSTGRESQL, "frobnicate t"),
    (POSTGRESQL, "select 'open"),
]


@pytest.mark.parametrize(("dialects", "text"), READING)
def test_a_query_reads(dialects: tuple[str, ...], text: str) -> None:
    assert effect_of(text, dialects).kind == "reads"


@pytest.mark.parametrize(("dialects", "text", "reason"), WRITING)
def test_what_writes_is_told_with_its_word(
    dialects: tuple[str, ...], text: str, reason: str
) -> None:
    effect = effect_of(text, dialects)
    assert effect.kind == "writes"
    assert reason in effect.reason


@pytest.mark.parametrize(("dialects", "text"), UNKNOWN)
def test_what_does_not_stand_in_the_text_is_not_known(dialects: tuple[str, ...], text: str) -> None:
    effect = effect_of(text, dialects)
    assert effect.kind == "unknown"
    assert effect.reason


@pytest.mark.parametrize(
    ("dialects", "text", "rollback"),
    [
        (POSTGRESQL, "insert into t values (1)", "undone"),
        (POSTGRESQL, "create table x (a int)", "undone"),
        (POSTGRESQL, "create database x", "ends"),
        (POSTGRESQL, "create index concurrently i on t (a)", "ends"),
        (POSTGRESQL, "vacuum t", "ends"),
        (POSTGRESQL, "select nextval('s')", "kept"),
        (POSTGRESQL, "select setval('s', 1)", "ends"),
        (POSTGRESQL, "commit", "ends"),
        (POSTGRESQL, "savepoint a", "undone"),
        (POSTGRESQL, "rollback to savepoint a", "undone"),
        (POSTGRESQL, "select 1", "undone"),
        (MYSQL, "create table x (a int)", "ends"),
        (MYSQL, "update t set a = 1", "undone"),
        (MYSQL, "set autocommit = 1", "ends"),
        (MARIADB, "analyze table t", "ends"),
        (("sparql",), "clear all", "ends"),
    ],
)
def test_what_a_rollback_undoes(dialects: tuple[str, ...], text: str, rollback: str) -> None:
    assert effect_of(text, dialects).rollback == rollback


@pytest.mark.parametrize("name", ["tpch", "ssb", "point-select", "oltp-read"])
def test_queries_of_ours_read(name: str) -> None:
    workload = find_workload(name)
    scale = workload.facts.scale_default
    for operation in workload.facts.order:
        text = workload.statement(operation, POSTGRESQL, scale).text
        for statement in statements(text, POSTGRESQL):
            effect = effect_of(statement, POSTGRESQL)
            assert effect.kind == "reads", (operation, effect)
