"""Comparisons with the elements of an array, written so that an index serves them."""

from __future__ import annotations

import pytest

from assay.model.errors import UsageError
from assay.workloads.rewriting import parts, without
from assay.workloads.rewriting.declared import declared_tables

POSTGRESQL = ("postgresql",)
SCHEMA = """create table photos (
  id integer primary key, tags text[] not null, names varchar(5)[], sizes integer[],
  codes char(3)[], weights numeric(4, 1)[], title text
);"""
TABLES = declared_tables((SCHEMA,), POSTGRESQL)
FORM = "array-element"


def rewritten(condition: str) -> str:
    text = f"select id from photos as p where {condition}"  # noqa: S608 - of the test itself
    return " ".join(without(text, POSTGRESQL, [FORM], TABLES).text.lower().split())


@pytest.mark.parametrize(
    ("condition", "written"),
    [
        ("'a' = any (tags)", "tags @> cast(array['a'] as text[])"),
        ("${tag} = any (p.tags)", "p.tags @> cast(array[${tag}] as text[])"),
        # A cast with the length would shorten the value.
        ("'longer' = any (names)", "names @> cast(array['longer'] as varchar[])"),
        ("3 = any (sizes)", "sizes @> cast(array[3] as int[])"),
        ("3 = any (weights)", "weights @> cast(array[3] as decimal[])"),
    ],
)
def test_a_value_is_looked_for_by_containment(condition: str, written: str) -> None:
    where = rewritten(f"{condition} and title <> ''").partition(" where ")[2]
    assert where == f"{written} and title <> ''"


@pytest.mark.parametrize(
    "condition",
    [
        # A cast to an integer would round it.
        "2.5 = any (sizes)",
        "'a' = any (codes)",
        "title = any (tags)",
        "'a' = any (unknown)",
        "'a' <> any (tags)",
        "not ('a' = any (tags))",
        "'a' = any (tags) or id = 3",
        "id = any (array[1, 2])",
        "id = any (select id from photos)",
    ],
)
def test_other_comparisons_are_not_rewritten(condition: str) -> None:
    with pytest.raises(UsageError):
        rewritten(condition)


def test_other_engines_have_no_such_form() -> None:
    text = "select id from photos where 'a' = any (tags)"
    assert FORM in {part.name for part in parts(text, POSTGRESQL, TABLES)}
    assert FORM not in {part.name for part in parts(text, ("duckdb",), TABLES)}
