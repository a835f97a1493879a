"""What a test left out of the specification, and what its metrics may be called for that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.analysis.composite.formulas import QUERIES

RUNS = 2
POWER, THROUGHPUT, COMPOSITE = "power", "throughput", "composite"
SPECIFIED = {POWER: "Power", THROUGHPUT: "Throughput", COMPOSITE: "QphH"}
OTHERWISE = {POWER: "power-like", THROUGHPUT: "throughput-like", COMPOSITE: "composite"}


@dataclass(frozen=True)
class MetricName:
    """What a metric is called.

    Attributes:
        label: What a column is called; a plain name of the specification only for a whole test.
        title: In full: what was left out, and which metric it therefore is not.
    """

    label: str
    title: str


def left_out(test: dict[str, Any], *, scale: float, queries: int, runs: int) -> tuple[str, ...]:
    """What of the specification a test did not do, each in a few words; empty for a whole one.

    Args:
        test: `test` of run.json.
        scale: Scale factor.
        queries: Different queries that were played.
        runs: Runs of power and throughput that were played.
    """
    found = [
        f"{queries} of {QUERIES} queries" if queries != QUERIES else "",
        "" if test["refresh"] else "no refreshes",
        "default parameters" if test["parameters"] == "default" else "",
        "" if test["scale_standard"] else f"SF {scale:g} is no standard scale",
        _streams(test),
        {"power": "no throughput test", "throughput": "no power test before"}.get(test["kind"], ""),
        "steady passes" if test["kind"] == "steady" else _runs(runs),
    ]
    return tuple(words for words in found if words)


def _streams(test: dict[str, Any]) -> str:
    streams, least = test["streams"], test["streams_minimum"]
    if streams is None or least is None or streams >= least:
        return ""
    return f"{streams} of {least} streams"


def _runs(runs: int) -> str:
    return "one run" if runs < RUNS else ""


def metric_name(kind: str, scale: float, missing: tuple[str, ...]) -> MetricName:
    """What the power, the throughput or the composite metric of a test is called."""
    specified = f"{SPECIFIED[kind]}@{scale:g}GB"
    if not missing:
        return MetricName(specified, specified)
    label = OTHERWISE[kind]
    return MetricName(label, f"{label} ({', '.join(missing)}), not {specified}")
