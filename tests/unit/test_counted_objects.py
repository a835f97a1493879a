"""What was counted for each object, from readings whose growth is known."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from assay.analysis.counters.objects import OBJECTS_MAX, declared_tables, object_tables
from assay.report.words.counted import object_text
from assay.report.words.engine_tables import object_rows

TABLE: dict[str, Any] = {
    "name": "indexes",
    "title": "By index",
    "source": "indexes",
    "object": "index",
    "without": ["all"],
    "columns": [
        {"counter": "touches", "title": "rows found", "unit": "rows"},
        {"counter": "reads", "title": "pages read", "unit": "pages"},
    ],
    "per_hundred": {"counter": "reads", "title": "on 100 rows", "unit": "pages"},
}


def table_of(*rows: tuple[int, str, str, float], table: dict[str, Any] = TABLE) -> dict[str, Any]:
    """The table of readings: (time, object, counter, value)."""
    names = ["time_ns", "object", "counter", "value"]
    types = {"time_ns": pl.Int64, "object": pl.String, "counter": pl.String, "value": pl.Float64}
    frame = pl.DataFrame(rows, schema=names, schema_overrides=types, orient="row")
    readings = frame.with_columns(pl.lit("indexes").alias("source"))
    at_end = readings.filter(pl.col("time_ns") == pl.col("time_ns").max())
    (made,) = object_tables(readings, declared_tables({"tables": [table]}), at_end)
    return made


def rows_of(made: dict[str, Any]) -> dict[str, list[float | None]]:
    return {row["object"]: row["values"] for row in made["rows"]}


def test_growth_of_each_object_most_first() -> None:
    made = table_of(
        *[(1, "a", "touches", 10), (1, "a", "reads", 5), (1, "b", "touches", 0)],
        *[(2, "a", "touches", 20), (2, "a", "reads", 7), (2, "b", "touches", 200)],
        *[(2, "b", "reads", 3), (1, "all", "touches", 10), (2, "all", "touches", 220)],
    )
    assert rows_of(made) == {"b": [200, 3, 1.5], "a": [10, 2, 20]}
    assert list(rows_of(made)) == ["b", "a"]
    assert [column["title"] for column in made["columns"]] == [
        *("rows found", "pages read", "on 100 rows")
    ]


def test_an_object_that_was_not_counted_yet_has_grown_from_nothing() -> None:
    made = table_of((1, "a", "touches", 1), (2, "a", "touches", 1), (2, "new", "touches", 7))
    assert rows_of(made) == {"new": [7, None, None]}


def test_a_counter_that_was_reset_has_no_growth() -> None:
    made = table_of(
        *[(1, "a", "touches", 9), (2, "a", "touches", 3)],
        *[(1, "a", "reads", 1), (2, "a", "reads", 2)],
    )
    assert rows_of(made) == {"a": [None, 1, None]}


def test_more_objects_than_are_told_are_counted() -> None:
    many = [(2, f"t{number:03}", "touches", float(number)) for number in range(1, OBJECTS_MAX + 4)]
    made = table_of((1, "t001", "touches", 0.0), *many)
    assert len(made["rows"]) == OBJECTS_MAX
    assert made["left_out"] == 3


def test_a_page_has_texts_and_says_what_is_missing() -> None:
    made = table_of((1, "a", "touches", 1), (2, "a", "touches", 2500))
    (table,) = object_rows({"tables": [made]})
    ((names, cells),) = table["rows"]
    assert names == ["a"]
    assert [cell.missing for cell in cells] == [False, True, True]
    assert cells[0].value == 2499
    assert object_rows({"tables": [table_of()]}) == []


AS_A_SERVER_PRINTS = TABLE | {
    "parts": ["KEY_TABLE", "INDEX_NAME"],
    "order": "reads",
    "columns": [
        {"counter": "touches", "title": "TOUCHES", "unit": "rows"},
        {"counter": "reads", "title": "READS", "unit": "pages"},
        {"counter": "n_buffers", "title": "N_BUFFERS", "unit": "pages", "kind": "gauge"},
    ],
    "per_hundred": {
        "counter": "reads",
        "title": "READ_PCT",
        "unit": "pages",
        "place": 2,
        "added": 1,
    },
}


def test_a_table_is_printed_column_for_column_as_a_server_prints_it() -> None:
    """Three rows of a published table: "Benchmarks, Redux", the meters at 1000 million triples."""
    published = {
        "RDF_OBJ": (114_105_938, 3_302_150, 3_171_275),
        "RDF_IRI": (32, 99_710, 95_353),
        "RDF_IRI.UNQC": (8_250_414, 509_239, 491_631),
    }
    begun = [(1, name, counter, 0.0) for name in published for counter in ("touches", "reads")]
    ended = [
        (2, name, counter, float(value))
        for name, values in published.items()
        for counter, value in zip(("touches", "reads", "n_buffers"), values, strict=True)
    ]
    made = table_of(*begun, *ended, table=AS_A_SERVER_PRINTS)
    assert object_text(made) == [
        "KEY_TABLE  INDEX_NAME    TOUCHES    READS  READ_PCT  N_BUFFERS",
        "=========  ==========  =========  =======  ========  =========",
        "RDF_OBJ    RDF_OBJ     114105938  3302150         2    3171275",
        "RDF_IRI    UNQC          8250414   509239         6     491631",
        "RDF_IRI    RDF_IRI            32    99710    302151      95353",
    ]


def test_a_gauge_that_was_not_told_at_the_end_is_absent() -> None:
    rows = [(1, "a", "touches", 1.0), (2, "a", "touches", 5.0), (1, "a", "n_buffers", 7.0)]
    made = table_of(*rows, table=AS_A_SERVER_PRINTS)
    assert rows_of(made) == {"a": [4, None, None, None]}
    assert object_text(made)[-1].split() == ["a", "a", "4", "-", "-", "-"]


@pytest.mark.parametrize(
    "table",
    [
        {"name": "x"},
        TABLE | {"columns": []},
        TABLE | {"order": "rows"},
        TABLE | {"columns": [TABLE["columns"][0] | {"kind": "rate"}]},
        TABLE | {"colour": "red"},
        TABLE | {"columns": [1]},
    ],
)
def test_a_declaration_that_cannot_be_read_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="of counters"):
        declared_tables({"tables": [table]})
