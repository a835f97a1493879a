"""Recursions whose result a condition reduces, and recursions that need all their rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.findings.joins import filter_after_recursion
from assay.analysis.findings.joins.carried_columns import recursions
from assay.model.finding import Finding
from assay.model.plan import PlanNode, Reads
from tests.cases import case, node, operation, plan, plans

TREE = (
    "with recursive t (root, id, depth) as (select id, id, 0 from folders union all "
    "select t.root, f.id, t.depth + 1 from t join folders f on f.parent = t.id) "
    "select count(*) from t where root = $1"
)
OF_VIEW = "select count(*) from folder_tree where root = $1"
ROWS = 50e3


def found(root: PlanNode, text: str = TREE, **facts: Any) -> list[Finding]:
    its = operation(overrides={"seconds": 1.0})
    return filter_after_recursion.find(case(its, plans=plans(plan(root, text=text, **facts))))


def step(object_name: str = "t") -> PlanNode:
    again = replace(node("cte", object=object_name, rows=ROWS), native="WorkTable Scan")
    folders = node("scan", object="folders", rows=800.0)
    facts: dict[str, Any] = {"rows": ROWS, "seconds": 0.5, "condition": "(t_1.id = f.parent)"}
    return node("hash join", again, folders, **facts)


def apart(condition: str = "filter (t.root = 7)", kept: float = 60.0, scans: int = 1) -> PlanNode:
    """PostgreSQL computes the recursion beside the scan that reads it."""
    walked = node("set operation", node("scan", object="folders"), step(), rows=ROWS)
    walked = replace(walked, native="Recursive Union", seconds=0.2)
    scan = node("cte", object="t", rows=kept, removed_rows=ROWS - kept, condition=condition)
    scan = replace(scan, native="CTE Scan", seconds=0.3)
    top = scan if scans == 1 else node("hash join", scan, scan, rows=1.0)
    return node("aggregate", top, node("cte", walked, object="t"), rows=1.0)


def in_place(operator: str, condition: str) -> PlanNode:
    """DuckDB filters the rows of the recursion, and MySQL looks them up."""
    native = "RECURSIVE_CTE" if operator == "filter" else "Materialize recursive CTE t"
    walked = replace(node("cte", node("scan"), step(), rows=ROWS, seconds=0.4), native=native)
    facts: dict[str, Any] = {"rows": 60.0, "seconds": 0.1, "condition": condition}
    return node("aggregate", node(operator, node("projection", walked, rows=ROWS), **facts))


def derived(column: str = "root") -> PlanNode:
    """MariaDB reads a derived table whose union reads the same table."""
    union = node("set operation", node("scan"), step("<derived2>"))
    facts: dict[str, Any] = {"rows": 60.0, "removed_rows": ROWS - 60, "seconds": 0.5}
    condition = f"filter t.{column} = 243"
    return node(
        "scan", node("materialize", union), object="<derived2>", **facts, condition=condition
    )


@pytest.mark.parametrize(
    "root",
    [apart(), in_place("filter", "(root = 7)"), in_place("index scan", "root = 7"), derived()],
    ids=["PostgreSQL", "DuckDB", "MySQL", "MariaDB"],
)
def test_a_condition_that_the_start_could_have(root: PlanNode) -> None:
    (finding,) = found(root)
    assert "makes 50 k rows, of which the condition" in finding.claim
    assert "keeps 60" in finding.claim
    assert finding.effect_share == pytest.approx(1.0, abs=0.01)
    assert "`where id = ...` in its first select" in (finding.to_try or "")
    assert finding.settle is None


def test_the_recursion_of_a_view_is_suspected() -> None:
    (finding,) = found(derived(), OF_VIEW)
    assert "selects root without a change" in (finding.settle or "")
    assert "replace the view by its query" in (finding.to_try or "")


def test_a_view_is_silent_on_the_column_of_its_own_join() -> None:
    assert found(derived("id"), OF_VIEW.replace("root", "id")) == []


@pytest.mark.parametrize(
    "twin",
    [
        {"condition": "filter (t.depth = 3)"},
        {"condition": "filter (t.id = 3)"},
        {"condition": "filter (t.root > 3)"},
        {"condition": "filter ((t.root = 3) OR (t.id = 4))"},
        {"kept": 20e3},
        {"scans": 2},
    ],
)
def test_conditions_that_the_start_cannot_have_are_silent(twin: dict[str, Any]) -> None:
    assert found(apart(**twin)) == []


@pytest.mark.parametrize(
    "text",
    [
        TREE.replace("select t.root", "select f.root"),
        TREE.replace("select t.root", "select t.root + 1"),
        TREE.replace("= t.id)", "= t.id limit 100)"),
    ],
    ids=["replaced", "changed", "limited"],
)
def test_recursions_that_change_the_column_are_silent(text: str) -> None:
    assert found(apart(), text) == []


class TestWithoutCountedRows:
    """SQLite's plans have neither rows nor times of operators."""

    def of(self, text: str = TREE, read: float = 5e3) -> list[Finding]:
        inner = node("nested loop", node("index scan", object="folders"), node("scan", object="t"))
        root = node("scan", node("cte", inner, object="t"), object="t")
        reads = Reads("steps of scans", scan_rows=read)
        return found(root, text, timed=False, reads=reads, execution_s=0.2)

    def test_the_statement_shows_the_condition(self) -> None:
        (finding,) = self.of()
        assert "starts with 5 k rows" in finding.claim
        assert finding.effect_share == pytest.approx(1.0)
        assert finding.settle is not None

    @pytest.mark.parametrize(
        "text",
        [
            TREE.replace("from folders union", "from folders where id = $1 union"),
            TREE.replace("root = $1", "depth = 2"),
            TREE.replace(" where root = $1", ""),
            TREE.replace("where root = $1", "where root = $1 or id in (select id from t)"),
            OF_VIEW,
        ],
    )
    def test_its_twins_are_silent(self, text: str) -> None:
        assert self.of(text) == []

    def test_few_rows_are_silent(self) -> None:
        assert self.of(read=90.0) == []


def test_columns_have_the_names_of_the_first_select() -> None:
    text = TREE.replace(" (root, id, depth)", "").replace(
        "select id, id, 0", "select id as root, id, 0"
    )
    (recursion,) = recursions(text, "postgres")
    assert recursion.carried == {"root": "id"}
    assert recursion.fixed == {"root"}
