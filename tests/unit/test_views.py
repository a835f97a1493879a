"""Views in queries: their texts from scripts, and rewritten queries that use them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import duckdb
import pytest

from assay.model.errors import UsageError
from assay.workloads.rewriting import indexes_for, parts, without
from assay.workloads.rewriting.declared import declared_tables
from assay.workloads.rewriting.views import (
    declared_views,
    ranking_views,
    storing_statement,
    with_views,
)

SCHEMA = """
create table sightings (id integer primary key, bird varchar(20), town varchar(20));
create table older (id integer primary key, bird varchar(20), town varchar(20));
create view all_sightings as select * from sightings union select * from older;
create view in_towns as select bird, town from all_sightings where town is not null;
create view every_column (a, b, c) as select * from sightings;
"""
BIRDS = "select bird, count(*) as seen from in_towns as i where bird <> $1 group by bird"


@pytest.mark.parametrize("dialects", [("duckdb",), ("postgresql",), ("mariadb",), ("sqlite",)])
def test_a_view_is_written_in_the_place_of_its_name(dialects: Sequence[str]) -> None:
    views = declared_views((SCHEMA,), tuple(dialects))
    assert views.keys() == {"all_sightings", "in_towns"}
    text = " ".join((with_views(BIRDS, views, dialects) or "").lower().split())
    assert "union select * from older ) as all_sightings where" in text
    assert text.count(") as i where") == 1
    assert "bird <> $1" in text
    # Without the number, the grammar of PostgreSQL takes this for a quoted text.
    text = (
        with_views("select * from in_towns where bird = $1 and town <> ''", views, dialects) or ""
    )
    assert "bird = $1" in text.lower()


@pytest.mark.parametrize(
    "text",
    [
        "select * from sightings",
        "select * from every_column",
        "with in_towns as (select 1) select * from in_towns",
        "select 'in_towns' from sightings",
        "insert into older select * from all_sightings",
        "select * from in_towns; select * from in_towns",
        "select * from other.in_towns",
        "select from from in_towns (",
    ],
)
def test_other_statements_stay_as_they_are(text: str) -> None:
    assert with_views(text, declared_views((SCHEMA,), ("postgresql",)), ("postgresql",)) is None


def test_a_view_that_is_dropped_or_stored_is_none() -> None:
    script = f"{SCHEMA} drop view in_towns; create materialized view kept as select 1 as one;"
    assert declared_views((script,), ("postgresql",)).keys() == {"all_sightings"}


def test_a_list_of_columns_names_what_the_view_returns() -> None:
    script = (
        "create view plain (a, b) as select x as q, y + 1 from t;"
        "create view joined (a) as select x from t union all select z from u union select 1;"
        "create view common (a) as with k as (select 1 as l) select l from k"
    )
    assert declared_views((script,), ("postgresql",)) == {
        "plain": "SELECT x AS a, y + 1 AS b FROM t",
        "joined": "SELECT x AS a FROM t UNION ALL SELECT z FROM u UNION SELECT 1",
        "common": "WITH k AS (SELECT 1 AS l) SELECT l AS a FROM k",
    }


def test_a_view_that_names_itself_ends() -> None:
    assert "from v" in (with_views("select * from v", {"v": "select * from v"}, ()) or "").lower()


def test_parts_of_a_view_can_be_removed_from_a_query() -> None:
    views = declared_views((SCHEMA,), ("duckdb",))
    assert "union" not in {part.name for part in parts(BIRDS, ("duckdb",))}
    assert "union" in {part.name for part in parts(BIRDS, ("duckdb",), views=views)}
    rewritten = without(BIRDS, ("duckdb",), ["union"], views=views)
    assert "UNION ALL" in rewritten.text


def test_a_rewritten_view_returns_the_same_rows() -> None:
    views = declared_views((SCHEMA,), ("duckdb",))
    text = with_views(BIRDS.replace("$1", "'owl'"), views, ("duckdb",))
    assert text is not None
    with closing(duckdb.connect()) as connection:
        connection.execute(SCHEMA)
        connection.execute("insert into sightings values (1, 'jay', 'a'), (2, 'owl', 'b')")
        connection.execute("insert into older values (1, 'jay', 'a'), (3, 'jay', null)")
        assert connection.execute(text).fetchall() == [("jay", 1)]


@pytest.mark.parametrize(
    ("view", "text"),
    [
        ("select bird from sightings where town = 'a'", "select bird from of_town"),
        ("select bird, town from sightings", "select bird from of_town where town = 'a'"),
    ],
    ids=["within the view", "on the view"],
)
def test_indexes_are_found_for_conditions_of_a_view(view: str, text: str) -> None:
    tables = declared_tables((SCHEMA,), ("sqlite",))
    found = indexes_for(text, ("sqlite",), tables, {"of_town": view})
    assert ("sightings", "town") in {(index.table, index.searched[0]) for index in found}


NEWEST = """create table readings (id integer, meter integer, day integer, value integer);
create view ranked as
  select *, row_number() over (partition by meter order by day desc) as place from readings;
create view newest as select meter, day, value from ranked where place = 1;
create view plain as select meter, value from readings;
"""
READS = "select n.meter, n.value from newest as n join plain as p on p.meter = n.meter"
FORM = "stored-views"


def test_a_view_that_ranks_rows_is_read_from_a_table() -> None:
    views = declared_views((NEWEST,), ("duckdb",))
    assert ranking_views(READS, views, ("duckdb",)) == ["newest"]
    assert ranking_views("select 1 from Ranked", views, ("duckdb",)) == ["Ranked"]
    text = without(READS, ("duckdb",), [FORM], views=views).text
    with closing(duckdb.connect()) as connection:
        connection.execute(NEWEST)
        connection.execute(
            "insert into readings select i, i % 7, i % 31, i * 37 % 101 from range(500) as r(i)"
        )
        connection.execute(storing_statement("newest", ("duckdb",)))
        rows = [connection.execute(f"{query} order by all").fetchall() for query in (READS, text)]
    assert rows[0] == rows[1]
    assert "assay_stored_newest AS n" in text


@pytest.mark.parametrize(
    "text", ["select * from plain", "with newest as (select 1) select * from newest", "delete from"]
)
def test_other_views_are_not_stored(text: str) -> None:
    with pytest.raises(UsageError):
        without(text, ("duckdb",), [FORM], views=declared_views((NEWEST,), ("duckdb",)))
