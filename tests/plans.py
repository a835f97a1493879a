"""Plans for tests: native ones that engines told, small ones made by hand, runs that have some."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.engines.duckdb import plans as duckdb
from assay.engines.postgresql import plans as postgresql
from assay.model.plan import Plan, PlanNode
from assay.record.seal import write_seal

NATIVE = Path(__file__).parent / "native_plans"
NORMALISED = {"duckdb": duckdb.normalised, "postgresql": postgresql.normalised}
CAPTURE_S = 0.25


def native(engine: str, name: str) -> str:
    return (NATIVE / engine / f"{name}.json").read_text(encoding="utf-8")


def plan_of(engine: str, name: str, operation: str = "q01") -> Plan:
    return NORMALISED[engine](native(engine, name), operation, 0, f"{operation}-0.json")


def nodes(plan: Plan, word: str) -> list[PlanNode]:
    """The operators whose native word, or table, begins so."""
    return [n for n in plan.root.walk() if word in (n.native, n.object, n.index)]


def node(plan: Plan, word: str) -> PlanNode:
    (match,) = nodes(plan, word)
    return match


def made(operator: str, *children: PlanNode, **more: Any) -> PlanNode:
    """An operator made by hand, whose native word is its own."""
    facts = {"native": operator, "seconds": 0.0} | more
    return PlanNode(operator, children=children, **facts)


def made_plan(root: PlanNode, **more: Any) -> Plan:
    return Plan(**{"operation": "q01", "statement": 0, "native": "q01-0.json", "root": root} | more)


def captured_facts(plans: list[Plan], missing: list[dict[str, Any]]) -> dict[str, Any]:
    """What `plans.json` holds."""
    return {
        "capture_s": CAPTURE_S * len(plans),
        "operations": [
            {
                "operation": plan.operation,
                "capture_s": CAPTURE_S,
                "watched_s": 0.2,
                "timed_s": 0.1,
                "ratio": 2.0,
            }
            for plan in plans
        ],
        "plans": [plan.facts() for plan in plans],
        "missing": missing,
    }


def with_plans(
    directory: Path,
    plans: list[Plan],
    missing: list[dict[str, Any]] | None = None,
    tables: Mapping[str, Mapping[str, str]] | None = None,
) -> Path:
    """A written run that has plans, as well, of tables with columns of these types."""
    folder = directory / "raw" / "plans"
    folder.mkdir()
    for plan in plans:
        (folder / plan.native).write_text("{}\n", encoding="utf-8")
    document = captured_facts(plans, missing or [])
    if tables:
        document["schema"] = {"grammar": None, "tables": tables}
    (folder / "plans.json").write_text(json.dumps(document), encoding="utf-8")
    facts = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    facts["request"]["plans"] = True
    facts["plans"] = {"error": None}
    (directory / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    write_seal(directory)
    return directory


def tpch_plans() -> list[Plan]:
    """Of the three queries that synthetic runs measure."""
    return [plan_of("duckdb", f"tpch-{name}", name) for name in ("q01", "q02", "q03")]
