"""Columns of a join that look alike, and that no index serves because their types differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.indexes import join_index, unused_index
from assay.model.catalogue import Collation, Index
from assay.model.finding import Finding
from assay.model.plan import PlanNode
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


def collated(tickets: str = "utf8mb4_bin", customers: str = "utf8mb3_bin") -> dict[str, Any]:
    """Collations and indexes of customers, whose code is unique, and of tickets."""
    ranks = {"utf8mb3_bin": 5, "utf8mb4_general_ci": 6, "utf8mb4_bin": 7}
    return {
        "collations": {
            "tickets": {"customer": Collation(tickets, ranks[tickets])},
            "customers": {"code": Collation(customers, ranks[customers])},
            "notes": {"customer": Collation(customers, ranks[customers])},
        },
        "indexes": {
            "customers": (Index("customers", "customers_code", ("code",), unique=True),),
            "tickets": (
                Index("tickets", "tickets_day", ("day",)),
                Index("tickets", "tickets_customer", ("customer",)),
            ),
        },
        "advice": {"statements": {"alike-columns": "conf/advice/alike_columns.sql"}},
    }


STATEMENT = (
    "select * from tickets t left join customers c on c.code = t.customer where t.day = '5 = 5'"
)
TICKETS = node("index scan", object="tickets", index="tickets_day", rows=53.0, estimated_rows=53.0)
CUSTOMERS = node("scan", object="customers", rows=120_000.0, loops=1.0, seconds=0.5)
BY_HASH = node(
    "hash join",
    TICKETS,
    CUSTOMERS,
    condition="(customers.code = tickets.customer)",
    rows=53.0,
    seconds=0.5,
)
ONE_TICKET = node(
    "nested loop",
    node("values", replace(TICKETS, rows=None), rows=1.0, estimated_rows=1.0),
    node(
        "scan",
        object="customers",
        condition="filter (customers.code = 'C-1')",
        rows=1.0,
        removed_rows=119_999.0,
        seconds=1.0,
    ),
    rows=1.0,
)


def driven(condition: str | None = "customer = func; filter tickets.day = 5") -> PlanNode:
    """Each customer is looked up in the tickets, of which a filter keeps few."""
    read = node("index scan", object="customers", index="customers_town", rows=100_000.0)
    looked_up = node(
        "index scan",
        object="tickets",
        index="tickets_customer",
        condition=condition,
        rows=18.0,
        loops=100_000.0,
        seconds=1.0,
    )
    return node("nested loop", replace(read, condition="town = 3"), looked_up, rows=18.0)


def joined(root: PlanNode, text: str = STATEMENT, **facts: Any) -> list[Finding]:
    fields = collated() | {"plans": plans(plan(root, text=text))} | facts
    return unused_index.find(case(operation(overrides=ONE_SECOND), **fields))


@pytest.mark.parametrize("root", [BY_HASH, ONE_TICKET, driven()])
def test_a_join_of_two_character_sets_uses_no_index_of_the_converted_column(root: PlanNode) -> None:
    (finding,) = joined(root)
    assert "customers.code has the collation utf8mb3_bin, tickets.customer has" in finding.claim
    assert finding.witnesses == ("catalogue", "plan")
    assert finding.settle is None
    assert finding.advice is not None
    assert finding.advice.subject == "customers"
    assert finding.advice.values == {"columns": "code", "like": "tickets.customer"}
    assert finding.advice.also == ()


@pytest.mark.parametrize(
    ("root", "facts"),
    [
        # The columns are alike, or the other one is converted.
        (BY_HASH, collated("utf8mb3_bin")),
        (BY_HASH, collated("utf8mb3_bin", "utf8mb4_bin")),
        (driven(), collated("utf8mb3_bin")),
        (BY_HASH, {"collations": {}}),
        # No index begins with the column, or the plan uses it.
        (BY_HASH, {"indexes": {}}),
        (replace(driven(), children=(replace(driven().children[0], index="customers_code"),
            driven().children[1])), {}),
        # Many rows match, or none of the other table's own conditions removes them.
        (replace(BY_HASH, rows=60_000.0), {}),
        (replace(driven(), rows=60_000.0), {}),
        (driven("customer = func"), {}),
        # The statement compares other columns.
        (driven(), {"plans": plans(plan(driven(), text="select 1"))}),
    ],
)  # fmt: skip
def test_joins_with_a_usable_index_or_many_matches_are_silent(
    root: PlanNode, facts: dict[str, Any]
) -> None:
    assert joined(root, **facts) == []


def test_without_an_index_of_the_other_condition_the_order_is_in_doubt() -> None:
    (finding,) = joined(driven("customer = func; filter tickets.state = 5"))
    assert "no index finds the rows of tickets by its own conditions" in str(finding.settle)


def test_columns_that_are_compared_with_the_changed_one_are_changed_with_it() -> None:
    notes = node("index scan", object="notes", index="notes_customer", rows=2.0)
    root = node("nested loop", BY_HASH, notes, rows=100.0)
    (finding,) = joined(root, f"{STATEMENT} join notes n on n.customer = c.code")
    assert finding.advice is not None
    (also,) = finding.advice.also
    assert (also.subject, also.values) == (
        "notes",
        {"columns": "customer", "like": "tickets.customer"},
    )


def test_one_index_without_use_in_two_operations_is_one_finding() -> None:
    both = plans(plan(BY_HASH, text=STATEMENT), plan(ONE_TICKET, "q2", text=STATEMENT))
    operations = [operation(name, share=0.5, overrides={"seconds": 1.0}) for name in ("q1", "q2")]
    (finding,) = unused_index.find(case(*operations, **collated(), plans=both))
    assert set(finding.operations) == {"q1", "q2"}
    assert "is not used for a join of q1, q2" in finding.claim


TYPES = {"customers": {"code": "TEXT"}, "tickets": {"customer": "INTEGER"}}


@pytest.mark.parametrize(("types", "count"), [(TYPES, 1), (TYPES | {"tickets": {}}, 0)])
def test_a_text_and_a_number_without_collations(
    types: dict[str, dict[str, str]], count: int
) -> None:
    findings = joined(driven(), collations={}, column_types=types)
    assert ["customers.code is text" in finding.claim for finding in findings] == [True] * count


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
    """A plan of SQLite: each sale is read, and its product is looked up by the number."""
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
    ],
)
def test_a_whole_scan_for_other_reasons(run: Case) -> None:
    assert unused_index.find(run) == []


def test_a_join_of_further_columns_is_suspected() -> None:
    (finding,) = unused_index.find(sales(SALE_TYPES, SALES + " and s.store = p.store"))
    assert "the join compares other columns, too" in str(finding.settle)


def test_without_an_index_a_whole_scan_needs_one() -> None:
    run = sales(SALE_TYPES, SALES, 1_000.0, replace(SALE, columns=("sold_on",)))
    alike = {**SALE_TYPES, "sale": {"product_ref": "int"}}
    (finding,) = join_index.find(replace(run, column_types=alike))
    assert "300 k rows of sale to find 1 k by product_ref" in finding.claim
    assert join_index.find(run) == []
