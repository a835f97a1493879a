"""Columns of a join that look alike, and that no index serves because their types differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.indexes import join_index, unused_index
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


SALE_TYPES = {
    "sale": {"id": "int", "product_ref": "text"},
    "product": {"id": "int", "category": "int"},
}
SALES = "select count(*) from product p join sale s on s.product_ref = p.id where p.category = $1"
SALE = Index("sale", "sale_product", ("product_ref", "sold_on"))
PRODUCT = Index("product", "rowid", ("id",), unique=True)


def sales(
    types: dict[str, dict[str, str]] = SALE_TYPES,
    text: str = SALES,
    kept: float = 1_000.0,
    *indexes: Index,
) -> Case:
    """As SQLite planned it: each sale is read, and its product is looked up by the number."""
    scan = node("scan", object="sale", rows=300_000.0, removed_rows=0.0)
    facts = {"rows": kept, "removed_rows": 300_000.0 - kept, "condition": "rowid=?"}
    looked_up = node("index scan", object="product", loops=300_000.0, **facts)
    join = plan(node("nested loop", scan, looked_up), text=text, execution_s=1.0, timed=False)
    return case(
        operation(overrides=ONE_SECOND),
        plans=plans(join),
        indexes={"sale": indexes or (SALE,), "product": (PRODUCT,)},
        column_types=types,
        advice={"statements": {"alike-columns": "conf/advice/alike_columns.sql", "index": "i"}},
    )


def test_a_text_that_a_whole_scan_compares_with_a_key() -> None:
    (finding,) = unused_index.find(sales())
    assert "sale.product_ref is text, product.id is a number" in finding.claim
    assert "Reading 300 k rows of sale to find 1 k took 100 % of the time" in finding.claim
    assert finding.settle is None
    assert finding.advice is not None
    assert (finding.advice.kind, finding.advice.subject) == ("alike-columns", "sale")
    assert finding.advice.values == {"columns": "product_ref", "like": "product.id"}
    assert join_index.find(sales()) == []


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(sales({**SALE_TYPES, "sale": {"product_ref": "int"}}), id="both are numbers"),
        pytest.param(sales({}), id="types are not known"),
        pytest.param(sales(SALE_TYPES, SALES, 150_000.0), id="half of the rows are used"),
        pytest.param(
            sales(SALE_TYPES, SALES, 1_000.0, replace(SALE, columns=("sold_on",))), id="no index"
        ),
        pytest.param(
            sales(SALE_TYPES, SALES.replace("p.id", "cast(p.id as text)")), id="converted"
        ),
        pytest.param(
            sales(SALE_TYPES, SALES + " and s.store = p.store"), id="another column is compared"
        ),
    ],
)
def test_a_whole_scan_for_other_reasons(run: Case) -> None:
    assert unused_index.find(run) == []


def test_without_an_index_a_whole_scan_needs_one() -> None:
    run = sales(SALE_TYPES, SALES, 1_000.0, replace(SALE, columns=("sold_on",)))
    alike = {**SALE_TYPES, "sale": {"product_ref": "int"}}
    (finding,) = join_index.find(replace(run, column_types=alike))
    assert "300 k rows of sale to find 1 k by product_ref" in finding.claim
    assert join_index.find(run) == []
