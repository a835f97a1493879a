"""Searches that read the pending list of a GIN index, and searches of the index alone."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.engine_facts import TableFacts
from assay.analysis.findings.memory import pending_list
from assay.model.catalogue import Index
from tests.cases import case, node, operation, plan, plans

MIB = 1 << 20
WORDS = "(to_tsvector('simple'::regconfig, notes.body) @@ '''pump'' & ''leak'''::tsquery)"
TAGS = "(notes.tags @> '{red,blue}'::text[])"
PART = "(notes.body ~~ '%pump%'::text)"


def searched(
    read_bytes: int = 40 * MIB,
    condition: str = WORDS,
    method: str = "gin",
    rows: float | None = 1e5,
    seconds: float = 0.8,
    **facts: Any,
) -> Case:
    """A search of a table with a bitmap scan that read so many bytes of an index."""
    search = node(
        "bitmap scan",
        index="notes_body",
        rows=3.0,
        condition=condition,
        cached_bytes=read_bytes,
        seconds=seconds,
        **facts,
    )
    scan = node("bitmap scan", search, object="notes", rows=3.0, seconds=1.0 - seconds)
    index = Index("notes", "notes_body", ("body",), method=method)
    tables = {"notes": TableFacts(rows=rows, estimated_rows=rows)}
    of_plans = plans(plan(scan))
    return case(operation(), plans=of_plans, indexes={"notes": (index,)}, tables=tables)


@pytest.mark.parametrize("condition", [WORDS, TAGS, PART])
def test_pages_beyond_the_entries_are_the_pending_list(condition: str) -> None:
    (finding,) = pending_list.find(searched(condition=condition))
    assert finding.effect_share == pytest.approx(0.8, abs=0.02)
    assert finding.settle == pending_list.TO_SETTLE
    assert "reads 40 MiB of the GIN index notes_body to find 3 rows" in finding.claim
    assert finding.advice is not None
    assert (finding.advice.kind, finding.advice.subject) == ("vacuum", "notes")
    assert "gin_clean_pending_list('notes_body')" in (finding.to_try or "")


@pytest.mark.parametrize(
    "quiet",
    [
        # The pages of two frequent words, or of an index that has no such list.
        searched(read_bytes=MIB // 2),
        searched(method="btree"),
        searched(rows=2e7),
        searched(rows=None),
        searched(seconds=0.02),
        searched(loops=100),
        # Searches that read many keys, or values that are not known.
        searched(condition="(notes.body @@ '''pump'':*'::tsquery)"),
        searched(condition="(notes.body @@ '!''pump'''::tsquery)"),
        searched(condition="(notes.tags @> $1)"),
        searched(condition="(notes.tags @> '{}'::text[])"),
    ],
)
def test_its_twins_are_silent(quiet: Case) -> None:
    assert pending_list.find(quiet) == []


def test_without_its_table_no_change_is_advised() -> None:
    made = searched()
    search = made.plans["q1"][0].root.children[0]
    alone = case(operation(), plans=plans(plan(search)), indexes=made.indexes, tables=made.tables)
    (finding,) = pending_list.find(alone)
    assert finding.advice is None
    assert (finding.to_try or "").endswith("; vacuum notes")
