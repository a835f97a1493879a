"""Computations from single rows, kept in columns: what can be, and that answers stay the same."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import pytest

from assay.analysis.try_.calibration import Calibration, Record
from assay.engines.discovery import find_engine
from assay.model.errors import UsageError
from assay.model.finding import Advice, Finding
from assay.model.sql import column_statement
from assay.record.reader import Run
from assay.running.asked.request import RunRequest
from assay.study.diagnosing.candidates import candidates_of
from assay.study.experiments.following import followed
from assay.workloads.discovery import find_workload
from assay.workloads.rewriting import STORED_VALUES, parts, storable, without
from assay.workloads.rewriting.stored import StoredValue, computes
from tests.records import write_run

TABLES = {"pawned": ("shop", "loan", "note", "day"), "shops": ("id", "name")}
BY_SHOP = "select shop, sum(cast(loan as decimal(12, 2))) as lent from pawned group by shop"


def stored(sql: str, dialect: str = "postgresql") -> list[tuple[str, str, str]]:
    values, _ = storable(sql, (dialect,), TABLES)
    return [(value.table, value.type.lower(), value.expression.lower()) for value in values]


def test_a_cast_has_the_type_that_the_query_names() -> None:
    assert stored(BY_SHOP) == [("pawned", "decimal(12, 2)", "cast(loan as decimal(12, 2))")]


def test_the_outermost_call_is_stored_and_not_those_within() -> None:
    sql = "select count(*) from pawned where substr(lower(note), 1, 4) = 'gold'"
    assert [text for _, _, text in stored(sql)] == ["substring(lower(note) from 1 for 4)"]


def test_what_is_computed_from_groups_stays() -> None:
    sql = "select round(sum(cast(loan as int)), 2), lower(max(note)) from pawned"
    assert [text for _, _, text in stored(sql)] == ["cast(loan as int)"]


def test_a_pattern_is_kept_as_true_or_false() -> None:
    assert stored("select count(*) from pawned p where p.note like '%gold%'") == [
        ("pawned", "boolean", "note like '%gold%'")
    ]


def test_the_same_computation_is_stored_once() -> None:
    sql = "select lower(note) from pawned where lower(note) > 'a' order by lower(note)"
    assert len(stored(sql)) == 1


def test_columns_that_are_still_read_are_known() -> None:
    _, left = storable(BY_SHOP, ("postgresql",), TABLES)
    assert left == ["shop"]


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        ("select lower(note) as n from pawned order by n", []),
        ("select lower(note) as n, count(*) from pawned group by n", []),
        # The groups are those of the column.
        ("select lower(note) as loan, count(*) from pawned group by loan", ["loan"]),
        ("select lower(note) as n from pawned order by loan", ["loan"]),
    ],
)
def test_the_name_of_a_result_is_no_column(sql: str, left: list[str]) -> None:
    assert storable(sql, ("postgresql",), TABLES)[1] == left


def test_the_query_reads_the_columns_and_keeps_the_names_of_its_results() -> None:
    sql = "select lower(p.note), lower(p.note) as n from pawned p where p.loan like '1%'"
    (lower, like), _ = storable(sql, ("postgresql",), TABLES)
    text = " ".join(without(sql, ("postgresql",), [STORED_VALUES], TABLES).text.split())
    shown, where = f"p.{lower.column}", f"p.{like.column}"
    assert text == f"SELECT {shown}, {shown} AS n FROM pawned AS p WHERE {where}"  # noqa: S608
    cast = "select cast(loan as int) from pawned order by loan"
    text = " ".join(without(cast, ("postgresql",), [STORED_VALUES], TABLES).text.split())
    assert text.endswith("AS loan FROM pawned ORDER BY loan")


def test_a_column_has_a_name_of_its_computation_alone() -> None:
    """Another part of the query may be gone, or another operation stores the same."""
    sql = "select lower(note) from pawned where cast(loan as int) > 3"
    (lower, cast), _ = storable(sql, ("postgresql",), TABLES)
    (alone,), _ = storable("select 1 from pawned where loan::int > 3", ("postgresql",), TABLES)
    assert alone == cast
    assert lower.column != cast.column
    upper, _ = storable("select lower(name) from shops", ("postgresql",), TABLES)
    assert lower.column != upper[0].column


@pytest.mark.parametrize(
    ("dialect", "sql", "kind"),
    [
        # A second has a fraction, and `extract` of PostgreSQL divides as a number with one.
        ("postgresql", "select extract(epoch from day) from pawned", "decimal"),
        ("postgresql", "select extract(year from day) from pawned", "decimal"),
        ("duckdb", "select extract(year from day) from pawned", "bigint"),
        ("duckdb", "select sqrt(loan) from pawned", "double"),
        ("duckdb", "select strptime(day, '%Y-%m-%d') from pawned", "timestamp"),
        ("duckdb", "select date_trunc('month', strptime(day, '%Y')) from pawned", "timestamp"),
        ("duckdb", "select date_trunc('month', day::date) from pawned", "timestamp"),
        ("postgresql", "select date_trunc('month', note::timestamp) from pawned", "timestamp"),
        ("duckdb", "select left(note, 2) from pawned", "text"),
        ("postgresql", "select date(day) from pawned", "date"),
        ("mysql", "select date(day) from pawned", "date"),
        ("mysql", "select concat(left(note, 2), '-', date(day)) from pawned", "varchar(13)"),
        ("mariadb", "select lpad(shop, 4, '0') from pawned", "varchar(4)"),
        ("sqlite", "select lower(note) from pawned", ""),
        ("sqlite", "select cast(loan as decimal(12, 2)) from pawned", "numeric"),
    ],
)
def test_a_column_holds_each_value_as_it_is(dialect: str, sql: str, kind: str) -> None:
    assert [stored_type for _, stored_type, _ in stored(sql, dialect)] == [kind]


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("duckdb", "select extract(epoch from day) from pawned"),
        ("duckdb", "select strptime(day, '%Y-%m-%d %z') from pawned"),
        ("duckdb", "select date_trunc('month', day) from pawned"),
        # The result depends on the time zone of the session.
        ("postgresql", "select date_trunc('month', day::date) from pawned"),
        ("postgresql", "select date_trunc('month', note::timestamptz) from pawned"),
        ("postgresql", "select sqrt(loan) from pawned"),
        ("postgresql", "select to_timestamp(day, 'YYYY') from pawned"),
        ("mysql", "select str_to_date(day, '%Y-%m-%d %H:%i') from pawned"),
        # A text of any length would be stored, and grouped, on disk.
        ("mysql", "select lower(note) from pawned"),
        ("mariadb", "select concat(note, date(day)) from pawned"),
        ("mariadb", "select substr(note, 2) from pawned"),
    ],
)
def test_a_function_without_a_type_for_each_value_is_refused(dialect: str, sql: str) -> None:
    with pytest.raises(UsageError, match="cannot be stored"):
        stored(sql, dialect)


def test_a_table_has_the_name_of_the_catalogue() -> None:
    assert stored("select lower(note) from Pawned")[0][0] == "pawned"
    sql = 'select lower("P".note) from pawned as "P"'
    assert '"P".' in without(sql, ("postgresql",), [STORED_VALUES], TABLES).text


def test_an_escape_belongs_to_its_pattern() -> None:
    sql = "select count(*) from pawned where note like '50!%' escape '!'"
    assert [text for _, _, text in stored(sql)] == ["note like '50!%' escape '!'"]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("select sum(fee(loan)) from pawned", r"fee\(loan\) cannot be stored"),
        ("select count(*) from pawned where note like ${part}", "cannot be stored"),
        ("select count(*) from pawned where lower(note || ${end}) > 'a'", "cannot be stored"),
        ("select count(*) from pawned, shops where lower(note || name) = 'a'", "cannot be stored"),
        ("select count(*) from pawned where age(day, current_date) > '1'", "cannot be stored"),
        ("select md5(cast(n as text)) from generate_series(1, 9) as s (n)", "cannot be stored"),
        ("select * from pawned where lower(note) = 'a'", "returns other rows"),
        ("select sum(loan * 2) from pawned", "computes nothing from single rows"),
        ("select lower(n) from (select note as n from pawned limit 9) as t", "cannot be stored"),
        ("select lower(note) from other.pawned", "cannot be stored"),
        # The view may have a column of this name, too.
        (
            "select 1 from pawned where exists (select 1 from v, shops where lower(note) = '')",
            "cannot be stored",
        ),
        ("select count(*) from pawned where note like '%${part}%'", r"'%\$\{part\}%' cannot"),
        ("select cast(day::timestamp - localtimestamp as text) from pawned", "cannot be stored"),
        ("select cast(day::date - date 'today' as text) from pawned", "cannot be stored"),
        ('select lower(note collate "C") from pawned', "cannot be stored"),
        ("select lower(note) from pawned group by note", "computes nothing from single rows"),
        ("select upper(lower(note)) from pawned group by lower(note)", "computed from groups"),
    ],
)
def test_what_depends_on_more_than_a_row_is_refused(sql: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        stored(sql)


def test_a_list_of_removable_parts_does_not_have_it() -> None:
    assert STORED_VALUES not in {part.name for part in parts(BY_SHOP, ("postgresql",), TABLES)}


def test_mysql_stores_no_texts_of_unknown_length() -> None:
    assert stored("select cast(loan as signed) from pawned", "mysql")
    with pytest.raises(UsageError, match="cannot be stored"):
        stored("select lower(note) from pawned", "mysql")
    # A column `binary` has a single byte.
    with pytest.raises(UsageError, match="cannot be stored"):
        stored("select cast(note as binary) from pawned", "mysql")


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    folder = tmp_path / "pawnshop"
    (folder / "operations").mkdir(parents=True)
    (folder / "schema").mkdir()
    (folder / "operations" / "by_shop.sql").write_text(
        "select shop, sum(cast(loan as decimal(12, 2))) as lent, count(*) as gold from pawned"
        " where note like '%gold%' group by shop order by shop",
        "utf-8",
    )
    (folder / "operations" / "notes.sql").write_text("select lower(note), day from pawned", "utf-8")
    (folder / "schema" / "tables.sql").write_text(
        "create table pawned (shop integer, loan text, note text, day text)", "utf-8"
    )
    (folder / "workload.toml").write_text(
        'name = "pawnshop"\ntitle = "Pawnshop"\norder = ["by_shop", "notes"]\n'
        "[operations.by_shop]\n[operations.notes]\n",
        "utf-8",
    )
    return folder


ROWS = [
    (1, "12.50", "a gold ring", "x"),
    (2, "7.25", "a watch", "y"),
    (1, "0.10", "gold!", "z"),
    (2, "3.00", None, "u"),
    (3, "9.99", "marigold", "v"),
]


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_answers_are_the_same_with_stored_values(workload: Path, engine: str) -> None:
    request = RunRequest(workload=str(workload), engine=engine, scale=1)
    changed = followed(request, Advice("stored-values", "by_shop"), find_engine(engine))
    (sql,) = changed.request.prepare.values()
    assert changed.request.remove == ["by_shop/stored-values"]
    facts = find_engine(engine).facts
    plain = find_workload(str(workload))
    query = plain.statement("by_shop", facts.dialects, 1).text
    tables = {"pawned": ("shop", "loan", "note", "day")}
    rewritten = without(query, facts.dialects, [STORED_VALUES], tables).text
    create = (workload / "schema" / "tables.sql").read_text("utf-8")
    if engine == "duckdb":
        database = duckdb.connect()
        database.execute(create)
        database.executemany("insert into pawned values (?, ?, ?, ?)", ROWS)
        before = database.execute(query).fetchall()
        database.execute(sql)
        assert database.execute(rewritten).fetchall() == before
    else:
        file = sqlite3.connect(":memory:")
        file.execute(create)
        file.executemany("insert into pawned values (?, ?, ?, ?)", ROWS)
        before = file.execute(query).fetchall()
        file.executescript(sql)
        assert file.execute(rewritten).fetchall() == before
    assert len(before) == 2


LENT = [*ROWS, (4, "10", "GOLD", "x"), (4, "9", None, "w")]
SHOPS = [(1, "Main"), (2, "Side"), (9, "Closed")]


def answers(engine: str, query: str) -> tuple[list[tuple[object, ...]], ...]:
    """Answers to a query and to the query that reads stored values."""
    dialects = find_engine(engine).facts.dialects
    values, _ = storable(query, dialects, TABLES)
    folder, facts = find_engine(engine).folder, find_engine(engine).advising()
    template = (folder / facts.statements["stored-values"]).read_text("utf-8")
    sql = "".join(
        column_statement(template, v.table, v.column, v.type, v.expression, facts.quote)
        for v in values
    )
    rewritten = without(query, dialects, [STORED_VALUES], TABLES).text
    database = duckdb.connect() if engine == "duckdb" else sqlite3.connect(":memory:")
    database.execute("create table pawned (shop integer, loan text, note text, day text)")
    database.execute("create table shops (id integer, name text)")
    database.executemany("insert into pawned values (?, ?, ?, ?)", LENT)
    database.executemany("insert into shops values (?, ?)", SHOPS)
    before = database.execute(query).fetchall()
    for statement in filter(str.strip, sql.split(";")):
        database.execute(statement)
    return before, database.execute(rewritten).fetchall()


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
@pytest.mark.parametrize(
    "query",
    [
        "select cast(loan as int) from pawned order by loan limit 3",
        "select name, lower(note) from shops left join pawned on id = shop order by 1, 2",
        "select lower(note) as n, count(*) from pawned group by n order by n",
        "select lower(note), count(*) from pawned group by 1 order by 1",
        "select shop, count(*) filter (where lower(note) > 'a') from pawned group by 1 order by 1",
        "select note from pawned where note like '%gold%' or lower(note) = 'gold' order by 1",
        "select count(*) from pawned a where exists (select 1 from shops where length(day) = id)",
        "select cast(loan as int) from pawned union select length(name) from shops order by 1",
    ],
)
def test_answers_to_many_queries_are_the_same(engine: str, query: str) -> None:
    before, after = answers(engine, query)
    assert before == after
    assert before


@pytest.mark.parametrize(
    "query",
    [
        "select regexp_replace(note, 'o', '0') as n, count(*) from pawned group by n order by n",
        "select regexp_replace(note, '[aeiou]', '', 'g'), day from pawned order by 1, 2",
        "select replace(note, 'o', ''), split_part(day, '-', 2) from pawned order by 1, 2",
        "select hex(note), regexp_extract(day, '[0-9]+$') from pawned order by 1, 2",
    ],
)
def test_texts_of_duckdb_are_the_same(query: str) -> None:
    before, after = answers("duckdb", query)
    assert before == after
    assert before


@pytest.mark.parametrize(
    "query",
    [
        # A value out of a document is a number in SQLite, and 12 is above 3.
        "select count(*) from pawned where json_object('n', 12, 's', note) ->> '$.n' > 3",
        "select sum(cast(loan as decimal) / 4) from pawned where loan in ('9', '10')",
        # Both are numbers in SQLite, and the second keeps its fraction.
        "select cast(day as date) + 1 from pawned order by 1",
        "select cast(loan || '.5' as boolean) from pawned order by 1",
        "select count(*) from pawned where substr(loan, 1, 1) = 9",
    ],
)
def test_values_of_sqlite_keep_their_types(query: str) -> None:
    before, after = answers("sqlite", query)
    assert [list(map(repr, row)) for row in before] == [list(map(repr, row)) for row in after]


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
@pytest.mark.parametrize(
    "query",
    [
        "select name, coalesce(lower(note), 'none') from shops left join pawned on id = shop",
        "select name, coalesce(lower(note), 'none') from pawned right join shops on id = shop",
        "select name, cast(note is null as int) from shops left join pawned on id = shop",
        "select lower(note) as day, day from pawned order by lower(day)",
    ],
)
def test_a_value_that_the_row_alone_does_not_decide_is_refused(engine: str, query: str) -> None:
    with pytest.raises(UsageError, match="cannot be stored"):
        answers(engine, query)


def test_two_operations_store_the_same_computation_once(workload: Path) -> None:
    (workload / "operations" / "notes.sql").write_text(
        "select shop, lower(note) from pawned where cast(loan as decimal(12, 2)) > 3", "utf-8"
    )
    request = RunRequest(workload=str(workload), engine="sqlite", scale=1)
    engine = find_engine("sqlite")
    first = followed(request, Advice("stored-values", "by_shop"), engine).request
    both = followed(first, Advice("stored-values", "notes"), engine).request
    database = sqlite3.connect(":memory:")
    database.execute((workload / "schema" / "tables.sql").read_text("utf-8"))
    for sql in both.prepare.values():
        database.executescript(sql)
    assert len(both.prepare) == 2
    (columns,) = database.execute("select count(*) from pragma_table_info('pawned')").fetchone()
    assert columns == 4 + 3


@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "postgresql"])
def test_rows_that_operations_change_are_not_stored(workload: Path, engine: str) -> None:
    (workload / "operations" / "notes.sql").write_text(
        "insert into pawned values (1, '2.00', 'gold', 'x')", "utf-8"
    )
    request = RunRequest(workload=str(workload), engine=engine, scale=1)
    with pytest.raises(UsageError, match="notes may change rows"):
        followed(request, Advice("stored-values", "by_shop"), find_engine(engine))


def test_values_that_a_run_stores_already_are_not_tried_again(workload: Path) -> None:
    request = RunRequest(workload=str(workload), engine="sqlite", scale=1)
    advice, engine = Advice("stored-values", "by_shop"), find_engine("sqlite")
    kept = followed(request, advice, engine).request
    with pytest.raises(UsageError, match="there is nothing to try"):
        followed(kept, advice, engine)


def test_texts_with_a_collation_are_not_stored(workload: Path) -> None:
    """In SQLite a cast keeps the collation of its column, and a stored text does not."""
    schema = "create table pawned (shop integer, loan text, note text collate nocase, day text)"
    (workload / "schema" / "tables.sql").write_text(schema, "utf-8")
    request = RunRequest(workload=str(workload), engine="sqlite", scale=1)
    with pytest.raises(UsageError, match="collation would not be that of the stored values"):
        followed(request, Advice("stored-values", "notes"), find_engine("sqlite"))


def test_where_no_index_has_an_expression_its_column_has_one(workload: Path) -> None:
    for name in ("notes", "by_shop"):
        (workload / "operations" / f"{name}.sql").write_text(
            "select count(*) from pawned where substr(note, 1, 4) = 'gold'", "utf-8"
        )
    request = RunRequest(workload=str(workload), engine="mariadb", scale=1)
    advice = Advice("stored-values", "notes", {"indexed": "(substr(`note`,1,4))"})
    changed = followed(request, advice, find_engine("mariadb"))
    ((label, sql),) = changed.request.prepare.items()
    add, index = sql.strip().splitlines()
    column = add.split("`")[3]
    assert f"add column `{column}` varchar(4) generated always as" in add
    assert index.endswith(f"on `pawned` (`{column}`);")
    assert label.endswith(" and an index")
    again = Advice("stored-values", "by_shop", {"indexed": "substr(note,1,4)"})
    both = followed(changed.request, again, find_engine("mariadb"))
    assert list(both.request.prepare) == [label], "the column and its index exist already"
    other = Advice("stored-values", "notes", {"indexed": "(substr(`note`,2,4))"})
    with pytest.raises(UsageError, match="no column that an index can have"):
        followed(request, other, find_engine("mariadb"))


def test_to_store_a_value_and_to_index_it_are_one_change(workload: Path, tmp_path: Path) -> None:
    (workload / "operations" / "notes.sql").write_text(
        "select count(*) from pawned where substr(note, 1, 4) = 'gold'", "utf-8"
    )
    request = RunRequest(workload=str(workload), engine="mariadb", scale=1)
    causes = [
        Finding("", 0.4, None, (), method, operations=("notes",), advice=advice)
        for method, advice in (
            ("function-per-row", Advice("stored-values", "notes")),
            ("unused-index", Advice("stored-values", "notes", {"indexed": "substr(note,1,4)"})),
        )
    ]
    run, history = Run(write_run(tmp_path / "run")), Calibration(Record(0, 0, 0, 0, None), {})
    (candidate,), unable = candidates_of(run, causes, request, history)
    assert unable == []
    assert [cause.method for cause in candidate.causes] == ["function-per-row", "unused-index"]
    assert candidate.change.endswith(" and an index")


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("concat(date(day), '')", "(concat(cast(day as date),''))"),
        ("lower(left(note, 3))", "(lcase(left(`note`,3)))"),
        ("year(day)", "(year(`day`))"),
    ],
)
def test_an_expression_is_recognised_as_plans_show_it(sql: str, shown: str) -> None:
    value = StoredValue("pawned", "assay_stored_1", "varchar(9)", sql)
    assert computes(value, shown, ("mariadb", "mysql"))
    assert not computes(value, "(year(`loan`))", ("mariadb", "mysql"))


@pytest.mark.parametrize("kind", ["bytea", "int4range", "bit(8)", "text[]"])
def test_a_function_of_a_column_that_is_no_text_is_not_stored_as_text(
    workload: Path, kind: str
) -> None:
    """In PostgreSQL, `lower` of a range is its bound, and not a text."""
    schema = f"create table pawned (shop integer, loan text, note {kind}, day text)"
    (workload / "schema" / "tables.sql").write_text(schema, "utf-8")
    request = RunRequest(workload=str(workload), engine="postgresql", scale=1)
    with pytest.raises(UsageError, match="depends on that of note"):
        followed(request, Advice("stored-values", "notes"), find_engine("postgresql"))


def test_no_trigger_is_started_by_storing_values(workload: Path) -> None:
    trigger = "create trigger seen after update on pawned begin delete from pawned; end"
    request = RunRequest(workload=str(workload), engine="sqlite", scale=1, prepare={"t": trigger})
    with pytest.raises(UsageError, match="which may start a trigger"):
        followed(request, Advice("stored-values", "by_shop"), find_engine("sqlite"))


def test_large_values_help_only_if_none_is_read_any_more(workload: Path) -> None:
    request = RunRequest(workload=str(workload), engine="postgresql", scale=1)
    large = {"large": "not read"}
    engine = find_engine("postgresql")
    assert followed(request, Advice("stored-values", "by_shop", large), engine)
    with pytest.raises(UsageError, match="notes also reads day, which may be large"):
        followed(request, Advice("stored-values", "notes", large), engine)
    assert followed(request, Advice("stored-values", "notes"), engine)


def test_a_running_server_gets_no_new_columns(workload: Path) -> None:
    request = RunRequest(
        workload=str(workload), engine="postgresql", scale=1, dsn="postgresql://127.0.0.1:1/d"
    )
    with pytest.raises(UsageError, match="adds columns to a table"):
        followed(request, Advice("stored-values", "by_shop"), find_engine("postgresql"))
