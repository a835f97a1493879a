"""The columns and expressions that a scan's condition compares with constants."""

from __future__ import annotations

import pytest

from assay.analysis.plans.restrictions import restrictions


def texts(condition: str) -> list[str]:
    return [each.column or f"({each.expression})" for each in restrictions(condition, "orders")]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("((state = 'open'::text) AND (desk = 5))", ["state", "desk"]),
        ("((state)::text = 'op''en'::text)", ["state"]),
        ("((flags & 64) = 64)", ["(flags & 64)"]),
        ("((lower(name) ~~ 'x%'::text) AND (NOT done))", ["(lower(name))", "done"]),
        ("(5 = desk)", ["desk"]),
        ("(code = ANY ('{1,2}'::integer[]))", ["code"]),
        ("((day >= '2020-01-01'::date) AND (day < '2021-01-01'::date))", ["day"]),
        (
            "(date_part('year'::text, day) = '2020'::double precision)",
            ["(date_part('year'::text, day))"],
        ),
        ('(("My col" IS NOT NULL) AND (b = $1))', ["My col", "b"]),
        ("filter ((orders.flags & 64) = 64)", ["(flags & 64)"]),
        ("((orders.desk = $1) AND (\"orders\".state = 'orders.x'::text))", ["desk", "state"]),
        ("(id = 7); filter (kind = 'a'::text)", ["id", "kind"]),
    ],
)
def test_each_is_read_once_in_the_order_of_the_text(condition: str, expected: list[str]) -> None:
    assert texts(condition) == expected


@pytest.mark.parametrize(
    "condition",
    [
        "(id = t.guest)",
        "(a > b)",
        "((a = 1) OR (b = 2))",
        "(hashed SubPlan 1)",
        "((x = 'unended)",
        "",
    ],
)
def test_other_tables_columns_alternatives_and_what_is_no_sql_are_left_out(condition: str) -> None:
    assert texts(condition) == []
