"""Pages far behind in another form: the page's keys are found first, and its rows by key."""

from __future__ import annotations

import pytest

from assay.model.errors import UsageError
from assay.workloads.rewriting import parts, without
from assay.workloads.rewriting.declared import declared_tables

FAR_PAGE = "far-page"
SCHEMA = (
    "create table recipes (id int not null primary key, published int not null, title varchar(60),"
    " code varchar(9) unique, slug varchar(400) not null unique);"
)
ENGINES = ("postgresql", "mysql", "duckdb", "sqlite")
END = "order by published desc, id limit 20 offset ${skipped}"
ASKED = " ".join(("select id, title from recipes", END))
LOOK_UP = " ".join(("( select recipes.id as page_key from recipes", END, ") as page"))


def left(sql: str, dialect: str = "postgresql", schema: str = SCHEMA) -> str:
    tables = declared_tables((schema,), (dialect,))
    return " ".join(without(sql, (dialect,), [FAR_PAGE], tables).text.lower().split())


def refusal(sql: str, dialect: str = "postgresql", schema: str = SCHEMA) -> str:
    tables = declared_tables((schema,), (dialect,))
    with pytest.raises(UsageError) as refused:
        without(sql, (dialect,), [FAR_PAGE], tables)
    assert FAR_PAGE not in {part.name for part in parts(sql, (dialect,), tables)}
    return str(refused.value)


@pytest.mark.parametrize("dialect", ENGINES)
def test_the_keys_of_the_page_are_found_first(dialect: str) -> None:
    assert left(f"-- newest\n{ASKED}", dialect) == " ".join(
        (
            *("select id, title from recipes join", LOOK_UP, "on recipes.id = page.page_key"),
            "order by published desc, id",
        )
    )


def test_the_condition_chooses_the_keys() -> None:
    asked = ASKED.replace("recipes", "recipes r where title <> 'x' and r.id in (select id from t)")
    rewritten = left(asked)
    inner = "from recipes as r where title <> 'x' and r.id in ( select id from t ) order by"
    assert f"( select r.id as page_key {inner}" in rewritten
    assert rewritten.endswith(") as page on r.id = page.page_key order by published desc, id")


@pytest.mark.parametrize("dialect", ["mysql", "sqlite", "duckdb"])
def test_all_columns_are_those_of_the_table(dialect: str) -> None:
    end = "limit 40, 20" if dialect != "duckdb" else "limit 20 offset 40"
    assert left(" ".join(("select * from recipes r order by id", end)), dialect) == (
        "select r.* from recipes as r join ( select r.id as page_key from recipes as r order by id"
        " limit 20 offset 40 ) as page on r.id = page.page_key order by id"
    )


def test_a_name_of_the_order_may_be_that_of_a_result_column() -> None:
    asked = "select title, published as day, id as n from recipes order by day, n limit 9 offset 99"
    rewritten = left(asked)
    assert "recipes.id as page_key from recipes order by published, id limit 9" in rewritten
    assert rewritten.endswith("on recipes.id = page.page_key order by day, n")


def test_names_of_the_derived_table_are_free() -> None:
    schema = "create table page (page_key int, n int, x int, primary key (page_key, n))"
    rewritten = left("select x from page order by n, page_key limit 1 offset 9", schema=schema)
    assert rewritten == (
        "select x from page join ( select page.page_key as page_key_11, page.n as page_key_2 from"
        " page order by n, page_key limit 1 offset 9 ) as page_2 on page.page_key ="
        " page_2.page_key_11 and page.n = page_2.page_key_2 order by n, page_key"
    )


def test_a_hint_is_for_the_search_of_the_keys() -> None:
    asked = ASKED.replace("recipes", "recipes force index (by_day)")
    assert left(asked, "mysql").count("force index") == 1
    assert ") as page on recipes.id" in left(asked, "mysql")


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("select title from recipes order by id limit 20", "no `limit` with an `offset`"),
        ("select title from recipes order by id offset 20", "no `limit` with an `offset`"),
        ("select title from recipes limit 20 offset 20", "a limit without an order"),
        (
            "select title from recipes order by id offset 20 rows fetch next 20 rows only",
            "no `limit` with an `offset`",
        ),
        (
            ASKED.replace("desc, id", "desc"),
            "may have the same place in the order: add the columns",
        ),
        (ASKED.replace("desc, id", "desc, code"), "may have the same place in the order"),
        (ASKED.replace("desc, id", "desc, -id"), "-id, which is no column"),
        (ASKED.replace("desc, id", "desc, 1"), "1, which is no column"),
        (ASKED.replace("select id", "select -id as id"), "id, which is no column"),
        (ASKED.replace("select id", 'select published as "ID"'), "may be the same name"),
        (ASKED.replace("recipes", "old.recipes"), "no key of recipes is declared"),
        (" ".join(("with recipes as (select * from old)", ASKED)), "no key of recipes is declared"),
        (ASKED.replace("recipes", "others"), "no key of others is declared"),
        (ASKED.replace("recipes", "recipes join cooks using (cook)"), "the clause `joins`"),
        (ASKED.replace("recipes", "(select * from recipes) r"), "something else than one table"),
        (ASKED.replace("select", "select distinct"), "the clause `distinct`"),
        (ASKED.replace(" order", " group by id, title order"), "the clause `group`"),
        (ASKED.replace("title", "count(*) over ()"), "from several rows"),
        (ASKED.replace("title", "max(title)"), "from several rows"),
        (ASKED.replace("title", "published + id"), "reads no other columns"),
        (f"{ASKED} for update", "the clause `locks`"),
        (ASKED.replace("title", "random()"), "another value each time"),
        (ASKED.replace(" order", " where fits(title) order"), "another value each time"),
        ("select id from recipes union select 1 order by id limit 2 offset 3", "a set operation"),
    ],
)
def test_what_may_be_another_page_is_refused(asked: str, reason: str) -> None:
    assert reason in refusal(asked)


def test_some_of_all_columns_are_refused() -> None:
    asked = "select * exclude (title) from recipes order by id limit 20 offset 20"
    assert "all columns except" in refusal(asked, "duckdb")


def test_mysql_may_count_rows_in_a_variable() -> None:
    asked = ASKED.replace("title", "@n := @n + 1 as place, title")
    assert "may return another value each time" in refusal(asked, "mysql")


def test_mysql_compares_only_the_beginning_of_a_long_text() -> None:
    asked = "select title from recipes order by slug limit 20 offset 20"
    assert "recipes.slug = page.page_key" in left(asked)
    assert "the same place in the order" in refusal(asked, "mysql")


@pytest.mark.parametrize("dialect", ["clickhouse", "trino", "spark"])
def test_engines_that_do_not_check_keys_are_refused(dialect: str) -> None:
    assert "no key of recipes is declared" in refusal(ASKED, dialect)
