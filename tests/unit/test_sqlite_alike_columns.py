"""The statement that declares a column of SQLite as another one, on real tables."""

from __future__ import annotations

import apsw
import pytest

from assay.engines.discovery import find_engine
from assay.model.finding import Advice
from assay.running.asked.request import RunRequest
from assay.study.experiments.following import followed

ADVICE = Advice("alike-columns", "sale", {"columns": "product_ref", "like": "product.id"}, 1.0)
JOIN = (
    "explain query plan select count(*) from product p join sale s on s.product_ref = p.id "
    "where p.category = 7"
)


NUMBERS = (
    "create table numbers as with recursive n (value) as "
    "(select 1 union all select value + 1 from n where value < 20000) select value from n"
)


def changing() -> str:
    request = RunRequest(workload="tpch", engine="sqlite", scale=1)
    (sql,) = followed(request, ADVICE, find_engine("sqlite")).request.prepare.values()
    return sql


def database(column: str) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    for statement in (
        "create table product (id integer primary key, category int)",
        f"create table sale (id integer primary key, ref text, {column} not null, qty int)",
        NUMBERS,
        "insert into product select value, value % 20 from numbers",
        "insert into sale select value, 'r', cast(value as text), 1 from numbers",
        "create index sale_product on sale (product_ref)",
        "create index product_category on product (category)",
        "analyze",
    ):
        connection.execute(statement)
    return connection


@pytest.mark.parametrize(
    "column",
    ["product_ref text", "PRODUCT_REF TEXT", '"product_ref" text', "\n  product_ref\ttext"],
)
def test_the_index_serves_the_join_afterwards(column: str) -> None:
    connection = database(column)
    before = [row[3] for row in connection.execute(JOIN)]
    assert before[0].startswith("SCAN s")
    connection.execute(changing())
    after = [row[3] for row in connection.execute(JOIN)]
    assert after[1].startswith("SEARCH s USING COVERING INDEX sale_product")
    query = "select distinct typeof(product_ref), typeof(ref) from sale"
    assert list(connection.execute(query)) == [("integer", "text")]
    assert list(connection.execute("pragma integrity_check")) == [("ok",)]


def test_a_column_in_another_form_is_an_error() -> None:
    connection = database("[product_ref] text")
    with pytest.raises(apsw.ConstraintError, match="declared in another form"):
        connection.execute(changing())
