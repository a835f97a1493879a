"""Phrases on a run: workload, engine, conditions and machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.checks.answers import AS_KEPT, TO_COMPARE
from assay.model.units import bytes_text, percent_text
from assay.model.verdict import NOT_COMPARED
from assay.record.layout import ACCOUNT_BRIDGE, KIND_OBSERVED
from assay.report.words.conditions import load_conditions, server_words
from assay.report.words.loads.specified import conditions_of_test
from assay.report.words.observed import observed_conditions
from assay.report.words.order import order_words
from assay.report.words.writes import writes_phrase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.report.documents.checks import CheckRow
    from assay.report.documents.run import RunDocument


def title(document: RunDocument) -> str:
    """Return a run's title, such as `TPC-H SF 1 on DuckDB 2.0.0`."""
    return f"{workload_words(document)} on {document['engine_title']} {document['engine_version']}"


def conditions_text(document: RunDocument) -> str:
    """Return text on the conditions of a run, and whether its query results were right."""
    if (observed := document.get("observed")) is not None:
        return observed_conditions(observed)
    conditions = document["conditions"]
    arrival = "power order" if conditions["arrival"] == "power" else conditions["arrival"]
    order = [arrival or ""]
    if document["test"] is not None:
        order = conditions_of_test(document["test"])
    parts = load_conditions(document) or [*order, conditions["state"] or ""]
    parts += order_words(conditions, brief=True)
    if conditions["prepare"]:
        names = ", ".join(name.rpartition("/")[2] for name in conditions["prepare"])
        parts.append(f"data changed by {names}")
    if conditions["operations"]:
        parts.append(f"{', '.join(conditions['operations'])} only")
    if conditions["remove"]:
        parts.append(f"queries without {', '.join(conditions['remove'])}")
    if conditions["without"]:
        parts.append(f"{', '.join(conditions['without'])} switched off")
    parts.append(writes_phrase(conditions.get("writes")))
    if conditions.get("pooled"):
        parts.append("behind a pooler")
    parts += server_words(conditions.get("servers"))
    # If a workload has conditions, they decide whether its answers are right.
    parts += [
        reason.partition("," if "answers" in reason else ";")[0]
        for reason in (*_held(document, "conditions", "answers")[:1], *_held(document, "recovery"))
    ]
    return ", ".join(part for part in parts if part)


def _held(document: RunDocument, *names: str) -> list[str]:
    """Return the reasons of those named checks that had data and passed."""
    results = (check(document, name) for name in names)
    return [
        result["reason"]
        for result in results
        if result is not None and result["measured"] and result["verdict"] == "valid"
    ]


def check(document: RunDocument, name: str) -> CheckRow | None:
    """Return the result of a check by its name; None without it."""
    results: list[CheckRow] = [c for c in document["checks"] if c["check"] == name]
    return results[0] if results else None


def answers_words(document: RunDocument) -> tuple[str, str | None] | None:
    """Return text on how the query results were checked, and a command to check them.

    The result is None if Assay's own reference was available, which needs no remark.
    """
    result = check(document, "answers")
    if result is None or result["verdict"] != "valid":
        return None
    reason = result["reason"]
    for begin in (NOT_COMPARED, AS_KEPT):
        if begin in reason:
            text, mark, command = reason[reason.index(begin) :].partition(TO_COMPARE)
            return f"{text}{mark}", command.strip() or None
    return None


def host_text(document: RunDocument) -> str:
    """Return text on the machine; empty if it was not recorded."""
    host = document["host"]
    parts = []
    if host["cpus"] is not None:
        parts.append(f"{host['cpus']} core{'s' if host['cpus'] != 1 else ''}")
    if host["memory_bytes"] is not None:
        parts.append(bytes_text(host["memory_bytes"]))
    if host["virtual"]:
        parts.append("virtual machine")
    return ", ".join(parts)


def workload_words(document: Mapping[str, Any]) -> str:
    """Return a workload's title with its scale. Existing tables of a user have no scale."""
    title: str = document["workload_title"]
    if document.get("own_tables") or document["workload"] == KIND_OBSERVED:
        return title
    return f"{title} {document['scale_name']} {document['scale']:g}"


def bridge_words(document: RunDocument) -> list[str]:
    """Return text on the CPU use of a bridge process between driver and database."""
    used = document["accounts"]
    if used is None or ACCOUNT_BRIDGE not in used["by_account_s"]:
        return []
    share = used["by_account_s"][ACCOUNT_BRIDGE] / used["window_s"]
    return [f"bridge {percent_text(share)} of a core"]
