"""A document with findings and plans, made by hand: what pages and terminals make of them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from assay.analysis.plans.recorded import Missing, OperationCost
from assay.model.finding import Advice, Evidence, Finding
from assay.model.plan import Plan, PlanNode
from assay.record.reader import Run
from assay.report.document import document
from assay.report.sections.plans import plan_facts

HOSTILE = "<img src=x onerror=alert(1)>"
NATIVE = '[{"Plan": {"Node Type": "Hash Join", "Filter": "a < 1 and b > \'\u00e4\'"}}]'
PLANNED = ("q01", "q02")
SPILLED = "q01 spilled 1.1 GiB: work_mem is 4 MiB"


def spill(run: str) -> Finding:
    """A finding with everything that one can have."""
    return Finding(
        claim=SPILLED,
        effect_share=0.24,
        interval=(0.2, 0.28),
        runs=(run,),
        method="spill",
        to_try="`assay run tpch --engine duckdb --set memory_limit=8GB`, or more memory",
        tells="cause",
        operations=("q01", "q03"),
        evidence=(
            Evidence("the hash join spilled 1.1 GiB", "plan:q01"),
            Evidence("12 % of its time was disk write", "where:q01"),
            Evidence("2 threads were asked for", "setting:threads"),
            Evidence("steal was 0 %", "check:steal"),
            Evidence("one core was busy", "timeline"),
            Evidence("no counter tells of it", "counter:temporary_bytes"),
        ),
        advice=Advice("setting", "work_memory", {"value": "268435456"}, gain_share=0.04),
    )


def joined(condition: str = "a.id = b.id") -> PlanNode:
    """A join whose one input was expected to be 1,160 times smaller than it was."""
    scan = PlanNode(
        "scan", "Seq Scan", object="lineitem", estimated_rows=6e6, rows=5.9e6, seconds=0.06
    )
    probe = PlanNode(
        "index scan",
        "Index Scan",
        object="partsupp",
        index="partsupp_pkey",
        estimated_rows=281.0,
        rows=325_960.0,
        loops=3.0,
        seconds=0.04,
        removed_rows=12.0,
    )
    return PlanNode(
        "hash join",
        "Hash Join",
        condition=condition,
        estimated_rows=100.0,
        rows=25.0,
        seconds=0.1,
        spilled_bytes=1 << 30,
        children=(scan, probe),
    )


def planned(operation: str, root: PlanNode, *, timed: bool = True) -> dict[str, Any]:
    """A plan of an operation as a document tells it."""
    reason = None if timed else "it would change data"
    return plan_facts(
        Plan(
            operation,
            0,
            f"{operation}-0.json",
            root,
            planning_s=0.002,
            execution_s=0.2 if timed else None,
            capture_s=0.25,
            timed=timed,
            reason=reason,
        )
    )


def explained(directory: Path, condition: str = "a.id = b.id") -> tuple[Run, dict[str, Any]]:
    """A record with the file of a native plan, and its document with a finding and plans."""
    run = Run(directory)
    (directory / "raw" / "plans").mkdir(exist_ok=True)
    (directory / "raw" / "plans" / "q01-0.json").write_text(NATIVE, encoding="utf-8")
    report = document(run, directory)
    report["findings"] = [spill(run.id).facts()]
    report["plans"] = {
        "q01": [planned("q01", joined(condition))],
        "q02": [planned("q02", PlanNode("scan", "SEQ_SCAN", object="part"), timed=False)],
    }
    report["plan_capture"] = {
        "capture_s": 0.5,
        "reason": None,
        "operations": [asdict(OperationCost(name, 0.25, 0.2, 0.16, 1.25)) for name in PLANNED],
        "missing": [asdict(Missing("q03", 0, "a server refused", 0.01))],
    }
    return run, report


def with_causes(report: dict[str, Any]) -> dict[str, Any]:
    """The document with every cause in each operation's time, the CPU having the most."""
    for operation in report["operations"]:
        where = operation["where"]
        waits = [name for name in where if not name.startswith("cpu_")]
        where |= {"cpu_user": 0.3, "cpu_system": 0.1} | dict.fromkeys(waits, 0.6 / len(waits))
        operation["coverage"] = 1 - where["uncovered"]
    return report
