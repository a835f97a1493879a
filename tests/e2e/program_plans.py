"""What plans of TPC-C's programs have to tell on every engine that plays them."""

from __future__ import annotations

from typing import Any

# Statements that every dialect has; others are of some engines, or of rare transactions.
STATEMENTS = {
    "new-order": {"customer", "district", "items", "order", "lines"},
    "payment": {"district", "by_name", "customer", "warehouse", "history"},
    "order-status": {"by_name", "customer", "order", "lines"},
    "delivery": {"oldest", "orders", "amounts", "customers"},
    "stock-level": {"district", "low_stock"},
}
NOT_ASKED = {"begin", "commit", "rollback"}
# Of orders with two lines of the same stock, which are few.
RARE = {"stock", "update_stock"}


def walked(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(below for child in node["children"] for below in walked(child))]


def assert_programs_have_plans(document: dict[str, Any]) -> None:
    """Each statement has one plan by its name, with its tables, indexes and columns."""
    for operation, wanted in STATEMENTS.items():
        plans = {plan["name"]: plan for plan in document["plans"][operation]}
        assert wanted <= set(plans)
        assert len(plans) == len(document["plans"][operation])
        for plan in plans.values():
            operators = [node["operator"] for node in walked(plan["root"])]
            assert "other" not in operators, plan["native"]
    missing = {entry["name"]: entry["reason"] for entry in document["plan_capture"]["missing"]}
    assert set(missing) <= NOT_ASKED | RARE, missing
    (by_name,) = [
        plan_row for plan_row in document["plans"]["order-status"] if plan_row["name"] == "by_name"
    ]
    (scan,) = [node for node in walked(by_name["root"]) if node["operator"] == "index scan"]
    assert (scan["object"], by_name["tables"][0]["table"]) == ("customer", "customer")
    assert by_name["tables"][0]["needed"][:3] == ["c_id", "c_d_id", "c_w_id"]
