"""The smallest and the largest value of a column are at the ends of its index."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.indexes import index_ends
from assay.model.catalogue import Index
from tests.cases import case, node, operation, plan, plans

BOTH = "-- When?\nselect min(taken) as earliest, max(taken) as latest from readings"
TAKEN = Index("readings", "readings_taken", ("taken", "degrees"))


def read(text: str = BOTH, index: Index = TAKEN, execution_s: float = 0.02, **facts: Any) -> Case:
    """A statement whose plan reads an index from its beginning to its end."""
    native = "SCAN USING COVERING INDEX"
    scan = replace(node("index scan", object="readings"), native=native, **facts)
    captured = replace(plan(scan, text=text), execution_s=execution_s)
    its = operation(cpu_user=0.9, uncovered=0.1, overrides={"seconds": execution_s})
    return case(its, plans=plans(captured), indexes={"readings": (index,)})


@pytest.mark.parametrize(
    "text",
    [
        BOTH,
        "select max(r.taken), min(r.taken) from readings as r;",
        'select min("taken") "first", max("taken") "last" from "readings"',
        "select min(taken), max(taken), max(taken) from main.readings r",
    ],
)
def test_both_ends_of_an_index_take_all_its_entries(text: str) -> None:
    (finding,) = index_ends.find(read(text))
    assert finding.effect_share == pytest.approx(0.9, rel=0.01)
    assert "reads all rows of readings for the smallest and largest taken" in finding.claim
    assert "(select max(taken) from readings)" in (finding.to_try or "")
    assert {evidence.witness for evidence in finding.evidence} == {"plan", "catalogue"}


@pytest.mark.parametrize(
    "twin",
    [
        # One end is looked up; groups, conditions, joins and other values need the rows.
        read("select min(taken) from readings"),
        read("select sensor, min(taken), max(taken) from readings group by sensor"),
        read("select min(taken), max(taken) from readings where degrees > 3"),
        read("select min(taken), max(taken) from readings, sensors"),
        read("select min(taken), max(taken), count(*) from readings"),
        read("select min(taken), max(taken + 1) from readings"),
        # Without an index, in a partial one or behind another column, the ends are nowhere.
        read(index=Index("readings", "readings_degrees", ("degrees", "taken"))),
        read(index=replace(TAKEN, predicate="degrees > 0")),
        read(index=replace(TAKEN, valid=False)),
        # The engine reads the first entry only, or the table is small.
        read(cut_short=True),
        read(condition="rowid > ?"),
        read(execution_s=90e-6),
        replace(read(), advice={"by_column": True}),
    ],
)
def test_its_twins_are_silent(twin: Case) -> None:
    assert index_ends.find(twin) == []
