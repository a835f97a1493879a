"""Estimates that columns depending on each other make wrong, and the statistics that mend them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from assay.analysis.findings.engine_facts import TableFacts
from assay.analysis.findings.plans import misestimate, overestimate
from assay.model.catalogue import Alternative, Statistics
from tests.cases import ADVICE, case, node, operation, plan, plans
from tests.truths import planned

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding
    from assay.model.plan import PlanNode

ABLE = {**ADVICE, "statements": {"extended-statistics": "x.sql", "statistics": "y.sql"}}
FRESH = TableFacts(rows=1e6, changed_rows=0.0, estimated_rows=1e6, analyzed=True)
OF_CARS = Statistics(
    "cars_st", "cars", ("make", "model", "body"), ("mcv",), "create statistics cars_st", True
)
OF_PARTS = Statistics(
    "parts_st", "parts", ("make", "kind"), ("dependencies",), "create statistics parts_st", True
)


def heap(search: PlanNode, **facts: Any) -> PlanNode:
    wrong = {"estimated_rows": 1, "rows": 2_000, "condition": "filter (make = 7) AND (model = 9)"}
    return node("bitmap scan", search, **{"object": "cars", "seconds": 0.0, **wrong, **facts})


def search(condition: str | None = "(cars.body = 3)", *inputs: PlanNode, **facts: Any) -> PlanNode:
    right = {"estimated_rows": 2_000, "rows": 2_000, "seconds": 0.0}
    return node("bitmap scan", *inputs, **{"condition": condition, **right, **facts})


def looped(outer: PlanNode, *, inner_rows: float = 2e6, **fields: Any) -> Case:
    """A nested loop of cars, and of parts that are estimated to be 2,000 in all loops."""
    condition = "(make = 7) AND (kind = 2)"
    inner = node(
        "index scan", object="parts", condition=condition, seconds=7.0, estimated_rows=2_000
    )
    inner = dataclasses.replace(inner, rows=inner_rows)
    facts = {"advice": ABLE, "tables": {"cars": FRESH, "parts": FRESH}, **fields}
    return planned(0.7, node("nested loop", outer, inner, seconds=0.0), **facts)


def found(run_case: Case) -> Finding:
    (finding,) = misestimate.find(run_case)
    return finding


def advised(run_case: Case) -> dict[str, str]:
    advice = found(run_case).advice
    assert advice is not None
    assert advice.kind == "extended-statistics"
    return {part.subject: part.values["columns"] for part in advice.parts}


def test_conditions_of_the_index_belong_to_the_list() -> None:
    only = {"cars": "body, make, model"}
    assert advised(looped(heap(search()), inner_rows=2e3)) == only
    both = search(None, search("(body = 3)"), search("(hue = 4)"))
    assert advised(looped(heap(both), inner_rows=2e3)) == {"cars": "body, hue, make, model"}
    either = search(None, search("(body = 3)"), search("(hue = 4)"))
    either = dataclasses.replace(either, native="BitmapOr")
    assert advised(looped(heap(either), inner_rows=2e3)) == {"cars": "make, model"}


def test_an_index_search_of_several_columns_names_the_table_above_it() -> None:
    wrong = search("(make = 7) AND (model = 9)", estimated_rows=1)
    outer = heap(wrong, condition=None)
    assert advised(looped(outer, inner_rows=2e3)) == {"cars": "make, model"}


def test_both_inputs_of_a_join_get_statistics_together() -> None:
    finding = found(looped(heap(search())))
    assert advised(looped(heap(search()))) == {"cars": "body, make, model", "parts": "make, kind"}
    assert "makes statistics (`create statistics`) of cars (body, make, model) and of parts" in (
        finding.to_try or ""
    )
    assert any("the other input of the join" in evidence.says for evidence in finding.evidence)


def test_a_wrong_estimate_in_a_join_that_is_not_slow_is_left_alone() -> None:
    """A hash join above the nested loop is as good for many rows."""
    right = {"estimated_rows": 2e3, "rows": 2e3, "object": "parts", "seconds": 7.0}
    loop = node("nested loop", heap(search()), node("index scan", **right), seconds=0.0)
    other = {"estimated_rows": 10, "rows": 1e5, "object": "shops", "seconds": 0.0}
    scan = node("scan", condition="(town = 3) AND (street = 9)", **other)
    join = node("hash join", loop, scan, seconds=0.0)
    run_case = planned(0.7, join, advice=ABLE, tables={"cars": FRESH})
    assert advised(run_case) == {"cars": "body, make, model"}


@pytest.mark.parametrize(
    ("existing", "expected"),
    [
        ((OF_CARS,), {"parts": "make, kind"}),
        ((OF_PARTS,), {"cars": "body, make, model"}),
        # Too few columns, and statistics that are not about values.
        (
            (
                dataclasses.replace(OF_CARS, columns=("make", "model")),
                dataclasses.replace(OF_PARTS, kinds=("ndistinct",)),
            ),
            {"cars": "body, make, model", "parts": "make, kind"},
        ),
    ],
)
def test_statistics_that_exist_are_not_advised_again(
    existing: tuple[Statistics, ...], expected: dict[str, str]
) -> None:
    assert advised(looped(heap(search()), statistics=existing)) == expected


def test_if_all_statistics_exist_something_else_is_left() -> None:
    finding = found(looped(heap(search()), statistics=(OF_CARS, OF_PARTS)))
    assert finding.advice is None
    assert "cars_st of cars (body, make, model) and parts_st of parts (make, kind) exist" in (
        finding.to_try or ""
    )
    assert "rewrite the condition" in (finding.to_try or "")


def test_statistics_that_nothing_gathered_are_gathered() -> None:
    empty = dataclasses.replace(OF_CARS, gathered=False)
    finding = found(looped(heap(search()), statistics=(empty, OF_PARTS)))
    assert finding.advice is not None
    assert (finding.advice.kind, finding.advice.subject) == ("statistics", "cars")


@pytest.mark.parametrize(("expression", "exists"), [("(flags & 64)", True), ("(flags & 4)", False)])
def test_statistics_of_an_expression_are_known_by_their_definition(
    expression: str, *, exists: bool
) -> None:
    definition = "CREATE STATISTICS public.st ON ((flags & 64)) FROM cars"
    known = Statistics("st", "cars", (), ("expressions",), definition, True, "public")
    outer = heap(search(None), condition=f"({expression} = 64)")
    finding = found(looped(outer, inner_rows=2e3, statistics=(known,)))
    assert (finding.advice is None) is exists


def test_an_overestimate_is_not_advised_to_gather_them_again_either() -> None:
    condition = "(make = 7) AND (model = 9)"
    few = node("scan", object="cars", condition=condition, estimated_rows=4e3, rows=5.0)
    many = node("scan", object="seat", estimated_rows=1e5, rows=1e5, seconds=0.8)
    join = node("hash join", many, few, estimated_rows=4e3, rows=5.0, seconds=0.2)
    other = Alternative("q1", 0, "rewrite", "joins", "off", 9.0, 10.0, differs=True)
    other = dataclasses.replace(other, seconds=1.0, seconds_changed=0.1)
    run_case = case(
        operation(overrides={"seconds": 1.0}),
        plans=plans(plan(join)),
        alternatives={"q1": (other,)},
        advice=ABLE,
    )
    (finding,) = overestimate.find(run_case)
    assert finding.advice is not None
    (finding,) = overestimate.find(dataclasses.replace(run_case, statistics=(OF_CARS,)))
    assert finding.advice is None
    assert "exist and do not make the estimate right" in (finding.to_try or "")
