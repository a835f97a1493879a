"""Scans that foreign keys and triggers of SQLite cause, and the findings that name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay.analysis.findings.indexes import missing_index
from assay.engines.sqlite.plans import normalised
from assay.model.plan import KEY_TO, OF_TRIGGER, Plan, PlanNode
from tests import sqlite
from tests.cases import case, operation

if TYPE_CHECKING:
    from pathlib import Path

KEYS = """
create table models (model integer primary key, brand text);
create table vehicles (vin integer primary key, model integer references models (model){action});
create table counts (id integer primary key, model integer, vehicles integer);
insert into models with recursive n (i) as (select 1 union all select i + 1 from n where i < 100)
select i, 'brand' from n;
insert into vehicles with recursive n (i) as (select 1 union all select i + 1 from n where i < 9000)
select i, i % 90 + 1 from n;
insert into counts select vin, vin, 1 from vehicles;
"""
INDEX = "create index vehicles_model on vehicles (model);"
DELETE_ONE, DELETE_MANY = (
    "delete from models where model = 95",
    "delete from models where model > 95",
)
COUNTED = "create trigger counted after {event} begin {body}; end;"
ONE_COUNT = "update counts set vehicles = 0 where model = {row}.model"


def plan_of(tmp_path: Path, schema: str, text: str, **settings: str) -> Plan:
    with sqlite.started(tmp_path, **settings) as (engine, instance):
        engine.run_script(instance, schema)
        reader = engine.plan_reader(instance)
        try:
            (answer,) = reader.explain([(text, ())], 60)
        finally:
            reader.close()
    assert answer.native is not None, answer.reason
    return normalised(answer.native, "q1", 0, "q1-0.json")


def scans(plan: Plan, key: str) -> list[PlanNode]:
    return [node for node in plan.root.walk() if key in node.details]


def share(plan: Plan, scan: PlanNode) -> float:
    assert scan.seconds is not None
    assert plan.execution_s is not None
    return scan.seconds / plan.execution_s


@pytest.mark.parametrize("action", ["", " on delete cascade", " on delete set null"])
@pytest.mark.parametrize(("text", "changed"), [(DELETE_ONE, 1), (DELETE_MANY, 5)])
def test_check_and_action_of_a_foreign_key_share_the_time_of_its_scan(
    tmp_path: Path, action: str, text: str, changed: int
) -> None:
    plan = plan_of(tmp_path, KEYS.format(action=action), text, foreign_keys="on")
    (scan,) = scans(plan, KEY_TO)
    assert (scan.object, scan.condition) == ("vehicles", "(model = models.model)")
    assert scan.details[KEY_TO] == "models"
    assert share(plan, scan) > 0.97
    assert (scan.rows or 0.0) + (scan.removed_rows or 0.0) == 9000 * changed
    assert scan.rows == scan.rows_margin


def test_the_finding_names_the_key_and_no_count_of_rows(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path, KEYS.format(action=" on delete cascade"), DELETE_ONE, foreign_keys="on"
    )
    run_case = case(operation(overrides={"seconds": 1.0}), plans={"q1": (plan,)})
    (finding,) = missing_index.find(run_case)
    assert finding.effect_share > 0.95
    assert "for the foreign key to models keep an estimated 100 of 9 k rows" in finding.claim
    assert any("refers to models" in evidence.says for evidence in finding.evidence)


def test_an_index_or_keys_that_are_not_checked_need_no_scan(tmp_path: Path) -> None:
    schema = KEYS.format(action=" on delete cascade")
    (tmp_path / "unchecked").mkdir()
    assert scans(plan_of(tmp_path / "unchecked", schema, DELETE_ONE), KEY_TO) == []
    plan = plan_of(tmp_path, schema + INDEX, DELETE_ONE, foreign_keys="on")
    assert scans(plan, KEY_TO) == []


def test_a_changed_key_is_looked_for_once(tmp_path: Path) -> None:
    """The scan for the new key happens only if rows violate the key."""
    text = "update models set model = 200 where model = 95"
    plan = plan_of(tmp_path, KEYS.format(action=""), text, foreign_keys="on")
    nodes = [node for node in plan.root.walk() if node.object == "vehicles"]
    assert all((node.rows or 0.0) + (node.removed_rows or 0.0) <= 9000 for node in nodes)


@pytest.mark.parametrize(
    ("event", "text", "condition"),
    [
        ("delete on models", DELETE_MANY, "(model = models.model)"),
        ("insert on models", "insert into models values (300, 'x')", "(model = ?)"),
    ],
)
def test_a_trigger_scans_for_each_changed_row(
    tmp_path: Path, event: str, text: str, condition: str
) -> None:
    body = ONE_COUNT.format(row="old" if "delete" in event else "new")
    schema = KEYS.format(action="") + COUNTED.format(event=event, body=body)
    plan = plan_of(tmp_path, schema, text)
    (scan,) = scans(plan, OF_TRIGGER)
    assert (scan.object, scan.condition) == ("counts", condition)
    assert share(plan, scan) > 0.9
    run_case = case(operation(overrides={"seconds": 1.0}), plans={"q1": (plan,)})
    (finding,) = missing_index.find(run_case)
    assert "Scans of counts in trigger counted keep" in finding.claim


@pytest.mark.parametrize(
    ("event", "body"),
    [
        ("delete on models when old.brand = 'other'", ONE_COUNT.format(row="old")),
        ("delete on vehicles", ONE_COUNT.format(row="old")),
        ("delete on models", "update counts set vehicles = 0 where id = old.model"),
    ],
)
def test_scans_that_a_trigger_may_skip_or_not_need_are_left_out(
    tmp_path: Path, event: str, body: str
) -> None:
    schema = KEYS.format(action="") + COUNTED.format(event=event, body=body)
    assert scans(plan_of(tmp_path, schema, DELETE_ONE), OF_TRIGGER) == []


def test_a_register_that_is_used_again_is_no_constant(tmp_path: Path) -> None:
    """The second statement's literal is in the register of the first one's parameter."""
    body = "; ".join([ONE_COUNT.format(row="old"), "delete from counts where vehicles = 7"])
    schema = KEYS.format(action="") + COUNTED.format(event="delete on models", body=body)
    conditions = [
        scan.condition for scan in scans(plan_of(tmp_path, schema, DELETE_ONE), OF_TRIGGER)
    ]
    assert conditions == ["(model = models.model)", "(vehicles = ?)"]
