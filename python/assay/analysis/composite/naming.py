"""Names TPC-H's metrics, with a note on each required step that the test left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.record.layout import PHASE_WARMUP

if TYPE_CHECKING:
    from collections.abc import Mapping

RUNS = 2
POWER, THROUGHPUT, COMPOSITE = "power", "throughput", "composite"
NO_ANSWERS = "no answers"
OTHERWISE = {POWER: "power-like", THROUGHPUT: "throughput-like", COMPOSITE: "composite"}


@dataclass(frozen=True)
class MetricName:
    """The label and title of a TPC-H metric, which depend on the steps that the test left out.

    Attributes:
        label: Heading of the column. Only a full test has the specification's name.
        title: Full name, with the parts that were left out and the specification's name that
            does not apply.
        is_not: The specification's name that must not be used for this metric; None if it may be
            used, or the specification has no name.
    """

    label: str
    title: str
    is_not: str | None = None


def specified_names(facts: dict[str, Any]) -> dict[str, str]:
    """Return the specification's names of a full test's metrics; empty without a specification.

    Args:
        facts: Content of run.json.
    """
    scale = f"{float(facts['request']['scale']):g}"
    names: dict[str, str] = facts["workload"].get("metrics") or {}
    return {kind: name.replace("${scale}", scale) for kind, name in names.items()}


def left_out(facts: dict[str, Any], *, queries: int, runs: int) -> tuple[str, ...]:
    """Return phrases on the steps of TPC-H that a test left out; empty for a full test.

    Args:
        facts: Content of run.json of a run with a test.
        queries: Number of different queries that were executed.
        runs: Number of runs of power and throughput test.
    """
    test, workload, scale = facts["test"], facts["workload"], float(facts["request"]["scale"])
    query_count = workload.get("queries", queries)
    other = workload.get("differs_from")
    omissions = [
        f"not the workload {other}" if other else "",
        "" if facts["engine"]["answers"] else NO_ANSWERS,
        "changed by --prepare" if facts["request"].get("prepare") else "",
        f"{queries} of {query_count} queries" if queries != query_count else "",
        "" if test["refresh"] else "no refreshes",
        "default parameters" if test["parameters"] == "default" else "",
        "" if test["scale_standard"] else f"SF {scale:g} is no standard scale",
        _streams(test),
        _passes_before(facts["plan"]["phases"]),
        {"power": "no throughput test", "throughput": "no power test before"}.get(test["kind"], ""),
        "steady passes" if test["kind"] == "steady" else _runs(runs),
    ]
    return tuple(omission for omission in omissions if omission)


def _streams(test: dict[str, Any]) -> str:
    streams, least = test["streams"], test["streams_minimum"]
    if streams is None or least is None or streams >= least:
        return ""
    return f"{streams} of {least} streams"


def _passes_before(phases: list[dict[str, Any]]) -> str:
    """Return a phrase on untimed executions that filled the cache before the power test, or ''."""
    passes = sum(phase["passes_min"] for phase in phases if phase["name"] == PHASE_WARMUP)
    return f"{passes} untimed pass{'es' if passes > 1 else ''} before" if passes else ""


def _runs(runs: int) -> str:
    return "one run" if runs < RUNS else ""


def metric_name(kind: str, specified: Mapping[str, str], missing: tuple[str, ...]) -> MetricName:
    """Return the label and title of a test's power, throughput or composite metric.

    Args:
        kind: `power`, `throughput` or `composite`.
        specified: The specification's names of the metrics; empty without a specification.
        missing: Parts of the specification that were left out.
    """
    label, name = OTHERWISE[kind], specified.get(kind)
    if name is not None and not missing:
        return MetricName(name, name)
    text = f"{label} ({', '.join(missing)})" if missing else label
    return MetricName(label, text if name is None else f"{text}, not {name}", name)
