"""Values of a page's template for query plans: operators with texts, bars and marks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.units import bytes_text, count_text, grouped_text, percent_text, seconds_text
from assay.record.layout import PLANS_DIR
from assay.report.words.plan_work import activity_words
from assay.report.words.plans import (
    NOTABLE_FACTOR,
    all_operators,
    columns_words,
    plan_sizes,
    plan_times,
    reads_words,
    statement_words,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.report.documents.plans.plans import PlanOperator, StatementPlan
    from assay.report.documents.run import RunDocument


def has_plan(document: RunDocument, operation: str) -> bool:
    """Return True if the document has a plan of an operation."""
    return bool(document["plans"].get(operation))


def plan_rows(native: Mapping[str, str | None], document: RunDocument) -> list[dict[str, object]]:
    """Return one page row for each query plan, those of the longest operation first.

    Args:
        native: Plans in the engine's own form, by file.
        document: The document of the run.
    """
    plans = document["plans"]
    seconds = {
        operation["name"]: operation["seconds"] or 0.0 for operation in document["operations"]
    }
    ordered = sorted(plans, key=lambda name: -seconds.get(name, 0.0))
    return [
        _plan(native, document, plan, several=len(plans[name]) > 1)
        for name in ordered
        for plan in plans[name]
    ]


def capture_words(document: RunDocument) -> str:
    """Return sentences on the time that capturing plans took, outside the timed part."""
    capture = document["plan_capture"]
    cost = (
        f", which took {seconds_text(capture['capture_s'])} in all" if capture["capture_s"] else ""
    )
    return (
        "Each statement was executed once more to capture its plan, outside of the timed "
        f"part{cost}. Times below belong to that execution and include the cost of measuring "
        "it; rows are totals over all loops."
    )


def missing_rows(document: RunDocument) -> list[tuple[str, str]]:
    """Return statements without a plan, each with the reason."""
    return [
        (f"{missing['operation']}, {statement_words(missing)}", missing["reason"])
        for missing in document["plan_capture"]["missing"]
    ]


def factor_words(node: PlanOperator) -> str:
    """Return text on the factor of a row estimate's error; empty if the error is small."""
    factor = node["q_error"]
    if factor is None or factor < NOTABLE_FACTOR:
        return ""
    is_few = (node["estimated_rows"] or 0.0) < (node["rows"] or 0.0)
    return f"{grouped_text(factor)}x too {'few' if is_few else 'many'}"


def _plan(
    native: Mapping[str, str | None], document: RunDocument, plan: StatementPlan, *, several: bool
) -> dict[str, object]:
    name = plan["operation"]
    anchor = f"plan:{name}" + (f":{plan['statement']}" if plan["statement"] else "")
    worst = next((node for node in all_operators(plan["root"]) if _is_worst(node)), None)
    number = f", {statement_words(plan)}" if several else ""
    return {
        "anchor": anchor,
        "title": f"{name}{number}",
        "facts": _facts(plan),
        "worst": ""
        if worst is None
        else f"worst estimate {factor_words(worst)}: {_operator_words(worst)}",
        "root": _node(plan["root"]),
        "captured": _captured(document, plan),
        "activity": activity_words(plan),
        "reads": reads_words(plan),
        "columns": list(columns_words(plan)),
        "untimed": None if plan["timed"] else _untimed(plan),
        "native": native.get(plan["native"]),
        "native_file": f"raw/{PLANS_DIR}/{Path(plan['native']).name}",
    }


def _captured(document: RunDocument, plan: StatementPlan) -> str:
    """Return text on the time of capturing a plan, and how much it slowed the statement."""
    if plan["capture_s"] is None:
        return ""
    text = f"Capturing this plan took {seconds_text(plan['capture_s'])}"
    costs = document["plan_capture"]["operations"]
    ratio = next((cost["ratio"] for cost in costs if cost["operation"] == plan["operation"]), None)
    slower = "" if ratio is None else f"; with capturing it took {ratio:.2g} times the timed one"
    return f"{text}{slower}."


def _untimed(plan: StatementPlan) -> str:
    why = f": {plan['reason'].rstrip('.')}" if plan["reason"] else ""
    return f"The engine reported only estimates, without times and actual rows{why}."


def _facts(plan: StatementPlan) -> str:
    """Return text with the times and sizes of a plan."""
    return ", ".join([*plan_times(plan), *plan_sizes(plan)])


def _is_worst(node: PlanOperator) -> bool:
    """Return True if a plan operator has the worst row estimate, and it is notably wrong."""
    return bool(node["worst"] and factor_words(node))


def _operator_words(node: PlanOperator) -> str:
    return f"{node['operator']} {node['object'] or ''}".rstrip()


def _node(node: PlanOperator, depth: int = 0) -> dict[str, object]:
    native = node["native"]
    return {
        "depth": depth,
        "operator": node["operator"],
        "native": native if native.lower() != node["operator"] else "",
        "object": " ".join(
            part
            for part in (node["object"], f"by {node['index']}" if node["index"] else None)
            if part
        ),
        "condition": node["condition"] or "",
        "time": "" if node["seconds"] is None else seconds_text(node["seconds"]),
        "share": "" if node["share"] is None else percent_text(node["share"]),
        "width": f"{100 * min(1.0, node['share'] or 0.0):.1f}%",
        "estimated": _rows(node["estimated_rows"]),
        "rows": "never executed" if node["loops"] == 0 else _rows(node["rows"]),
        "factor": factor_words(node),
        "worst": _is_worst(node),
        "marks": _marks(node),
        "children": [_node(child, depth + 1) for child in node["children"]],
    }


def _rows(count: float | None) -> str:
    return "?" if count is None else count_text(count)


def _marks(node: PlanOperator) -> list[str]:
    """Return texts on an operator's other measurements, such as spilled bytes."""
    marks = [
        f"{label} {bytes_text(size)}"
        for label, size in (
            ("spilled", node["spilled_bytes"]),
            ("read", node["read_bytes"]),
            ("cached", node["cached_bytes"]),
        )
        if size
    ]
    if node["removed_rows"]:
        marks.append(f"removed {count_text(node['removed_rows'])} rows")
    if node["loops"] is not None and node["loops"] > 1:
        marks.append(f"{count_text(node['loops'])} loops")
    if node["workers"] is not None:
        marks.append(f"{node['workers']} worker{'s' if node['workers'] != 1 else ''}")
    return [*marks, "cut short"] if node["cut_short"] else marks
