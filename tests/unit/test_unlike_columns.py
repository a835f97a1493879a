"""Columns of a join that look alike, and that no index serves because their types differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.analysis.findings.indexes import unused_index
from assay.model.catalogue import Index
from assay.model.finding import Finding
from tests.cases import case, node, operation, plan, plans

ONE_SECOND = {"seconds": 1.0}
LOOKED_UP = node("index scan", object="lines", condition="purchase = ?", rows=8.0, seconds=0.0)
STOCK = Index("stock", "stock_part", ("part",))


def found(condition: str, loops: float = 8.0, index: Index = STOCK) -> list[Finding]:
    """A part of each line is searched in all of the stock."""
    scan = node("scan", object="stock", condition=condition, rows=8.0, removed_rows=480_000.0)
    join = node("nested loop", LOOKED_UP, replace(scan, loops=loops, seconds=1.0), seconds=0.0)
    indexes = {"stock": (index,)}
    joined = operation(overrides=ONE_SECOND)
    return unused_index.find(case(joined, plans=plans(plan(join)), indexes=indexes))


@pytest.mark.parametrize("condition", ["(part = lines.part)", "lines.part = stock.part"])
def test_an_index_that_each_loop_passes_over_is_suspected_to_be_of_another_type(
    condition: str,
) -> None:
    (finding,) = found(condition)
    assert "part is compared with lines.part, and the columns may differ" in finding.claim
    assert finding.settle is not None
    assert finding.advice is None


@pytest.mark.parametrize(
    ("condition", "loops", "index"),
    [
        # One scan for all rows may be cheaper than looking them up.
        ("(part = lines.part)", 1.0, STOCK),
        ("(part = ?)", 8.0, STOCK),
        ("(part > lines.part)", 8.0, STOCK),
        ("(part = lines.part OR shelf = lines.shelf)", 8.0, STOCK),
        ("(part = lines.part)", 8.0, replace(STOCK, columns=("shelf", "part"))),
    ],
)
def test_its_twins_are_silent(condition: str, loops: float, index: Index) -> None:
    assert found(condition, loops, index) == []
