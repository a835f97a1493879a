"""Inserts whose keys have no order, and inserts that miss the cache for other reasons."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.memory import small_cache
from assay.analysis.findings.memory.unordered_keys import unordered_keys
from assay.analysis.plans.inserted import inserted
from assay.model.catalogue import ForeignKey, Index
from assay.model.plan import Trigger
from tests.cases import case, node, operation, passes, plan, plans
from tests.truths import counted

BY_UUID = "insert into hits (id, page) values (uuid(), $1), (uuid(), $2)"
EXECUTIONS = 1000


def loading(
    text: str = BY_UUID,
    reads: float = 2e3,
    kind: str = "char(36)",
    indexes: tuple[Index, ...] = (),
    grammar: str = "mysql",
) -> Case:
    """A thousand inserts of two rows each, which read so many pages together."""
    primary = Index("hits", "PRIMARY", ("id",), unique=True)
    counters = counted(buffer_hits=1e4, buffer_reads=reads, buffer_read_bytes=reads * 16384)
    return case(
        operation(cpu_system=0.5, cpu_user=0.5),
        plans=plans(plan(node("modify", object="hits"), text=text)),
        counters=counters,
        executions=passes({"q1": [0.01] * EXECUTIONS}),
        indexes={"hits": (primary, *indexes)},
        column_types={"hits": {"id": kind, "page": "int"}},
        grammar=grammar,
    )


def test_a_cache_that_random_keys_miss_is_advised_with_other_keys() -> None:
    made = replace(loading(), advice={"settings": {"cache": {"name": "pool"}}})
    (finding,) = small_cache.find(made)
    assert "each row read 1.0 pages: the key id of hits (char(36)) has no order" in finding.claim
    assert (finding.to_try or "").startswith("keys that grow")


@pytest.mark.parametrize(
    ("text", "kind", "grammar"),
    [
        ("insert into hits (id, page) values ($1, $2), ($3, $4)", "uuid", "postgres"),
        ("insert into hits values ($1, $2), ($3, $4)", "binary(16)", "mysql"),
        (
            "insert into hits (id, page) values (rand() * 1e9, 1), (rand() * 1e9, 2)",
            "bigint",
            "mysql",
        ),
        ("insert into hits (id, page) values (hex(randomblob(16)), 1), ('a', 2)", "text", "sqlite"),
        ("insert into hits (page) values (1), (2)", "uuid", "postgres"),
    ],
)
def test_keys_without_an_order_are_known_by_value_or_type(
    text: str, kind: str, grammar: str
) -> None:
    assert "the key id of hits" in (unordered_keys(loading(text, kind=kind, grammar=grammar)) or "")


OTHER = Index("hits", "hits_page", ("page",))
FILLED = "insert into hits (id, page) values ($1, $2), ($3, $4)"


@pytest.mark.parametrize(
    "quiet",
    [
        # Keys that grow: numbers, and texts that begin with a time.
        loading(FILLED, kind="bigint"),
        loading("insert into hits (id, page) values (uuidv7(), 1), (uuidv7(), 2)"),
        loading("insert into hits (id, page) values (uuid_to_bin(uuid(), 1), 1), ('b', 2)"),
        loading("insert into hits (id, page) values (concat(now(6), uuid()), 1), ('b', 2)"),
        # Few pages for each row, or other readers of pages.
        loading(reads=100),
        loading("select * from hits"),
        loading("insert into hits select id, page from visits"),
        loading(FILLED, indexes=(OTHER,)),
        replace(loading(), foreign_keys=(ForeignKey("hits_page", "hits", ("page",), "pages"),)),
        replace(loading(), plans={}),
        replace(loading(), indexes=None),
    ],
)
def test_its_twins_are_silent(quiet: Case) -> None:
    assert unordered_keys(quiet) is None


def test_triggers_may_read_the_pages() -> None:
    made = loading()
    fired = replace(made.plans["q1"][0], triggers=(Trigger("checked", "hits", 0.1, 1),))
    assert unordered_keys(replace(made, plans=plans(fired))) is None


def test_rows_and_values_of_an_insert() -> None:
    found = inserted("INSERT INTO Hits (Id, page) VALUES (uuid(), 1), (uuid(), 2)", "mysql")
    assert found is not None
    assert (found.table, found.rows) == ("hits", 2)
    assert found.values == {"id": "uuid()", "page": "1"}
    assert inserted("insert into hits values", "mysql") is None
    assert inserted("delete from hits", "mysql") is None
