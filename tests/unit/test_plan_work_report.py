"""What plans say of an engine whose functions have no names, on terminal and page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.model.plan import Plan
from assay.record.layout import PLANS_DIR, PLANS_FILE, RAW_DIR
from assay.record.reader import Run
from assay.report.page.plans import plan_rows
from assay.report.sections.plans import plan_work_section, plans_section
from assay.report.terminal.plan_work import plan_work_lines
from assay.report.terminal.plans import plan_lines
from assay.report.terminal.profile import symbol_text
from assay.report.words.plan_work import activity_words, is_wanted, plan_work_about, plan_work_rows
from tests.plans import captured_facts, made, made_plan
from tests.records import write_run

WIDTH = 100
SCAN = made("scan", seconds=3.0, object="lineitem", details={"also": ["join filter", "hash probe"]})
ACTIVITY = {"rnd": 32_325.0, "seq": 701_549.0, "same seg": 32_083.0, "fork": 4.0}
PLANS = [
    made_plan(made("aggregate", SCAN, seconds=1.0), details={"activity": ACTIVITY}),
    made_plan(made("sort", made("scan", seconds=0.0), seconds=4.0), operation="q02"),
]
NAMELESS: dict[str, Any] = {"classified": 0.2, "named": 0.25}


@pytest.fixture
def plan_document(tmp_path: Path) -> dict[str, Any]:
    return document(tmp_path, PLANS)


def document(path: Path, plans: list[Plan]) -> dict[str, Any]:
    place = write_run(path) / RAW_DIR / PLANS_DIR
    place.mkdir(exist_ok=True)
    (place / PLANS_FILE).write_text(json.dumps(captured_facts(plans, [])), encoding="utf-8")
    run = Run(place.parent.parent)
    facts = captured_facts(plans, [])
    return {
        "plans": plans_section(run),
        "plan_work": plan_work_section(run),
        "plan_capture": {"operations": facts["operations"], "missing": [], "reason": None},
        "profile": NAMELESS,
        "run": run,
        "operations": [{"name": "q01", "seconds": 1.0}, {"name": "q02", "seconds": 2.0}],
    }


def test_work_of_all_plans_by_word(plan_document: dict[str, Any]) -> None:
    section = plan_document["plan_work"]
    assert section["work"] == [
        {"work": "sort", "seconds": 4.0, "share": 0.5},
        {"work": "scan", "seconds": 3.0, "share": 0.375},
        {"work": "aggregate", "seconds": 1.0, "share": 0.125},
    ]
    assert section["mixed"] == [
        {"work": "scan", "also": ["join filter", "hash probe"], "seconds": 3.0}
    ]


def test_plans_speak_where_samples_are_of_nameless_functions(plan_document: dict[str, Any]) -> None:
    page = "\n".join(plan_work_lines(plan_document, NAMELESS, WIDTH))
    assert "Time by kind of work, from plans" in page
    assert "50.0 %" in page
    text = " ".join(page.split())
    assert "Only 20.0 % of the CPU samples have a kind of work: " in text
    assert "75.0 % fell into functions without names" in text
    assert "38 % is scan with join filter and hash probe in it" in text


def test_plans_are_silent_where_samples_say_it(plan_document: dict[str, Any]) -> None:
    assert not is_wanted({"classified": 0.9, "named": 0.9})
    assert list(plan_work_lines(plan_document, {"classified": 0.9, "named": 0.9}, WIDTH)) == []
    assert "Only" not in plan_work_about(
        plan_document | {"profile": {"classified": 0.9, "named": 1.0}}
    )


def test_plans_speak_where_there_are_no_samples(plan_document: dict[str, Any]) -> None:
    page = " ".join("\n".join(plan_work_lines(plan_document, "this run took none", WIDTH)).split())
    assert "The kinds of work come from plans" in page


def test_no_plan_says_nothing(tmp_path: Path) -> None:
    nothing = document(tmp_path, [])
    assert list(plan_work_lines(nothing, "none", WIDTH)) == []
    assert plan_work_rows(nothing) == []


def test_a_row_of_the_page_says_where_most_of_it_is(plan_document: dict[str, Any]) -> None:
    first, second, _ = plan_work_rows(plan_document)
    assert (first["work"], first["width"], first["operations"]) == ("sort", "100.0%", "q02 100 %")
    assert second["operations"] == "q01 100 %"


def test_what_a_statement_counted_is_told_as_virtuoso_prints_it(
    plan_document: dict[str, Any],
) -> None:
    plans = plan_document["plans"]["q01"]
    expected = "32.33K rnd 701.5K seq 32.08K same seg 4 fork"
    assert activity_words(plans[0]) == expected
    page = "\n".join(plan_lines(plans, plan_document["plan_capture"], WIDTH))
    assert f"Counted: {expected}." in page
    assert activity_words(plan_document["plans"]["q02"][0]) == ""
    rows = {row["title"]: row["activity"] for row in plan_rows({}, plan_document)}
    assert rows == {"q01": expected, "q02": ""}


def test_a_function_without_a_name_is_said_to_have_none() -> None:
    nameless = {"symbol": "virtuoso-t+0x3f2a40..0x3f2b10", "kind": "bounds"}
    assert symbol_text(nameless, 40) == "virtuoso-t+0x3f2a40 (no name)"
    assert symbol_text(nameless, 24) == "virt…+0x3f2a40 (no name)"
    assert symbol_text({"symbol": "ce_search", "kind": "symbol"}, 40) == "ce_search"
