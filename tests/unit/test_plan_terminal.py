"""Plans on a terminal, against texts that were read by a person before they were kept.

`ASSAY_WRITE_GOLDEN=1` writes them anew; read the difference before keeping it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.plans.pruning import TableColumns
from assay.model.plan import Plan, Reads
from assay.record.reader import Run
from assay.report.document import document
from assay.report.sections.operation import operation_of
from assay.report.sections.plan_difference import plan_difference, plan_differences
from assay.report.sections.plans import plan_facts
from assay.report.terminal.plans import (
    changed_line,
    difference_lines,
    factor_text,
    overview_lines,
    plan_lines,
)
from tests.plans import CAPTURE_S, made, made_plan, plan_of, tpch_plans, with_plans
from tests.records import write_run

GOLDEN = Path(__file__).parents[1] / "golden"
NOTHING: dict[str, Any] = {"capture_s": None, "reason": None, "operations": [], "missing": []}
COST = {"capture_s": CAPTURE_S, "watched_s": 0.36, "timed_s": 0.225, "ratio": 1.6}


def assert_golden(name: str, lines: Iterable[str]) -> None:
    path, text = GOLDEN / name, "".join(f"{line}\n" for line in lines)
    if os.environ.get("ASSAY_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def lines_of(plan: Plan, width: int = 80, *, everything: bool = False) -> list[str]:
    capture = NOTHING | {"operations": [COST | {"operation": plan.operation}]}
    return list(plan_lines([plan_facts(plan)], capture, width, everything=everything))


@pytest.mark.parametrize(
    ("golden", "engine", "name"),
    [
        ("plan-parallel.txt", "postgresql", "tpch-q18-16"),
        ("plan-common-table.txt", "postgresql", "tpch-q15-18"),
        ("plan-never-executed.txt", "postgresql", "never-executed-18"),
        ("plan-estimated.txt", "postgresql", "estimated-18"),
        ("plan-spilled.txt", "postgresql", "hash-batches-18"),
        ("plan-compiled.txt", "postgresql", "jit-15"),
        ("plan-columns.txt", "duckdb", "tpch-q03"),
    ],
)
def test_a_plan_is_a_tree_with_times_and_rows(golden: str, engine: str, name: str) -> None:
    assert_golden(golden, lines_of(plan_of(engine, name)))


def test_all_operators_with_all_words() -> None:
    assert_golden("plan-all.txt", lines_of(plan_of("duckdb", "tpch-q03", "q03"), everything=True))


@pytest.mark.parametrize("width", [40, 80, 100])
@pytest.mark.parametrize("everything", [False, True])
def test_lines_fit(width: int, everything: bool) -> None:
    for engine, name in (("postgresql", "tpch-q18-16"), ("duckdb", "tpch-q22")):
        told = lines_of(plan_of(engine, name), max(width, 60), everything=everything)
        assert max(map(len, told)) <= max(width, 60)


def test_a_condition_of_several_lines_is_one_and_carries_no_control() -> None:
    root = made("scan", object="t\x1b[31m", condition="a\n\t= \x1b[1m'b'", seconds=1.0)
    told = lines_of(made_plan(root))
    assert not any("\x1b" in line or "\n" in line for line in told)


def test_statements_without_a_plan_say_why() -> None:
    missing = {"operation": "q15", "statement": 1, "reason": "it is no query", "capture_s": 0.1}
    several = [missing | {"name": None}, missing | {"name": "commit"}]
    told = list(plan_lines([], NOTHING | {"missing": several}, 80))
    assert told == [
        "  statement 2 has no plan: it is no query",
        "  statement commit has no plan: it is no query",
    ]


def test_what_a_statement_reads_and_which_columns_nobody_needs() -> None:
    reads = Reads("the session's counters", index_lookups=1.0, scan_rows=200.0)
    plan = made_plan(made("scan", object="t"), name="by_name", reads=reads)
    table = TableColumns("q01", 0, "by_name", "t", ("a", "b"), ("a",), ("b",), 500)
    untold = TableColumns("q01", 0, "by_name", "u", None, ("c",), (), None)
    facts = plan_facts(plan, [table, untold])
    told = "\n".join(plan_lines([facts, facts], NOTHING, 80))
    assert "Plan of q01, statement by_name" in told
    assert "Read: index lookups 1, rows by scans 200 (the session's counters)." in told
    assert "Columns of t: 2 read, 1 named; not named: b, 500 B a row at most." in told
    assert "Columns of u: 1 named; the columns that are read are not known." in told


def test_several_statements_are_numbered() -> None:
    facts = plan_facts(plan_of("duckdb", "insert"))
    told = list(plan_lines([facts, facts | {"statement": 1}], NOTHING, 80))
    assert [line for line in told if line.startswith("Plan of")][1].startswith(
        "Plan of q01, statement 2: execution"
    )


@pytest.mark.parametrize(
    ("estimated", "came", "text"),
    [(100, 150, ""), (100, 300, "3x"), (300, 100, "1/3"), (1, 81_234, "81,200x"), (None, 5, "")],
)
def test_factors_say_their_direction(estimated: float | None, came: float, text: str) -> None:
    root = made("scan", estimated_rows=estimated, rows=came, seconds=1.0)
    assert factor_text(plan_facts(made_plan(root))["root"]) == text


def difference() -> dict[str, Any]:
    new, old = (plan_of("postgresql", f"tpch-q18-{version}", "q18") for version in ("18", "16"))
    return plan_difference(new, old, ({"q18": 0.171}, {"q18": 0.228}))


def test_what_changed_in_a_plan() -> None:
    assert_golden("plan-difference.txt", difference_lines([difference()], 80))


def test_which_plans_changed() -> None:
    same = plan_of("postgresql", "tpch-q22-16", "q22")
    told = [difference(), plan_difference(same, same, ({"q22": 0.1}, {}))]
    assert "executed in another way in 1 of 2 operations" in changed_line(told)
    assert changed_line(told[1:]) == "  Plans: executed in the same way in all of 1 operations"
    assert "No operation has a plan in both runs" in changed_line([])


@pytest.mark.parametrize("width", [80, 100])
def test_lines_of_differences_fit(width: int) -> None:
    lines = [*difference_lines([difference()], width), changed_line([difference()])]
    assert max(map(len, lines)) <= width


def test_an_overview_has_a_line_an_operation(tmp_path: Path) -> None:
    directory = with_plans(write_run(tmp_path), tpch_plans())
    told = document(Run(directory), directory)
    assert_golden("plan-overview.txt", overview_lines(told, 80))


def test_statements_whose_plans_are_alike_have_one_line(tmp_path: Path) -> None:
    directory = with_plans(write_run(tmp_path), tpch_plans())
    run_document = document(Run(directory), directory)
    head, *before = overview_lines(run_document, 80)
    name, several = next(iter(run_document["plans"].items()))
    run_document["plans"][name] = several * 3
    after = list(overview_lines(run_document, 80))
    assert after[0] == head
    assert len(after[1:]) == len(before)
    assert sum(line.endswith("(3 statements alike)") for line in after) == len(several)


def test_one_operation_has_its_plans_only(tmp_path: Path) -> None:
    directory = with_plans(write_run(tmp_path), tpch_plans())
    told = operation_of(document(Run(directory), directory), "q02")
    assert [plan["operation"] for plan in told["plans"]] == ["q02"]
    assert [cost["operation"] for cost in told["plan_capture"]["operations"]] == ["q02"]


def test_differences_are_of_statements_that_both_have(tmp_path: Path) -> None:
    plans = tpch_plans()
    ours = Run(with_plans(write_run(tmp_path / "a"), plans))
    theirs = Run(with_plans(write_run(tmp_path / "b"), plans[:2]))
    told = plan_differences(ours, theirs, ({"q01": 0.2}, {"q01": 0.1}))
    assert [(one["operation"], one["changed"]) for one in told] == [("q01", False), ("q02", False)]
    assert (told[0]["ours_s"], told[0]["theirs_s"], told[1]["ours_s"]) == (0.2, 0.1, None)
    assert [one["operation"] for one in plan_differences(ours, theirs, ({}, {}), "q02")] == ["q02"]
