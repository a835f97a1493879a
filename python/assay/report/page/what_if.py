"""Values of a page's template for predictions of supposed changes.

The page's calculator gets the document's figures as JSON, and its script has the model's formulas.
A test compares its results with the model's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.units import rate_text, seconds_text
from assay.report.words.loads.specified import UNROUNDED, metric_text

if TYPE_CHECKING:
    from assay.report.documents.run import RunDocument
    from assay.report.documents.what_if import (
        MetricWeight,
        SensitivityRow,
        WhatIfMetric,
        WhatIfSection,
        WorthRow,
    )

# Metrics that the composite contains. A table with the composite leaves them out.
PARTS_OF_COMPOSITE = {"power_like_per_h", "throughput_like_per_h"}
COMPOSITE = "composite_per_h"
KINDS = {"work": "work on a CPU", "wait": "waiting"}
ABOUT = (
    "A model computes these figures from this run; they are not measured. A weight is the "
    "change of a metric in per cent if the operation's time changes by one per cent."
)
ABOUT_MEAN = " In a geometric mean every operation has the same weight, however short it is."
GEOMETRIC_MEAN = "geometric_mean_seconds"
WORTH_ABOUT = (
    "Each metric if one kind of work or wait took no time and all else stayed the same: an "
    "upper limit of any improvement."
)


def what_if_words(document: RunDocument) -> dict[str, object] | None:
    """Return the page's tables of predictions, and the numbers for its calculator."""
    section = document["what_if"]
    if section is None:
        return None
    metrics = shown_metrics(section)
    weighed = sorted(section["sensitivity"], key=lambda row: -row["seconds"])
    return {
        "about": ABOUT + (ABOUT_MEAN if _has(metrics, GEOMETRIC_MEAN) else ""),
        "worth_about": WORTH_ABOUT,
        "metrics": metrics,
        "titles": "; ".join(
            metric["title"] for metric in metrics if metric["label"] != metric["title"]
        ),
        "rows": [_weights(row, metrics, _largest(weighed, metrics)) for row in weighed],
        "worth": [_worth(row, metrics) for row in section["worth"]],
        "assumptions": list(dict.fromkeys(row["assumption"] for row in section["worth"])),
        "json": _figures(section),
    }


def shown_metrics(section: WhatIfSection) -> list[WhatIfMetric]:
    """Return the metrics that get columns of their own in the page's predictions."""
    names = {metric["metric"] for metric in section["metrics"]}
    left_out = set(PARTS_OF_COMPOSITE) if COMPOSITE in names else set()
    # Weights are computed from unrounded intervals, so unrounded metrics need no column.
    left_out |= {name for name in names if name.endswith(UNROUNDED)}
    return [metric for metric in section["metrics"] if metric["metric"] not in left_out]


def change_text(change: float | None) -> str:
    """Return a change as text in %, with its sign."""
    if change is None:
        return "no bound"
    return f"{change * 100:+.1f} %".replace("-", "\u2212")


def between_text(low: float | None, high: float | None) -> str:
    """Return a range of changes as text; empty if both ends have equal text."""
    ends = change_text(low), change_text(high)
    return "" if ends[0] == ends[1] else " to ".join(ends)


def value_text(value: float | None, unit: str) -> str:
    """Return a metric's value with its unit."""
    if unit == "s":
        return seconds_text(value)
    if unit == "/s" or value is None:
        return rate_text(value)
    return f"{metric_text(value)} an hour"


def _has(metrics: list[WhatIfMetric], name: str) -> bool:
    return any(metric["metric"] == name for metric in metrics)


def _largest(weighed: list[SensitivityRow], metrics: list[WhatIfMetric]) -> float:
    """Return the largest absolute weight of an operation, which has the longest bar."""
    names = {metric["metric"] for metric in metrics}
    weights = (weight for row in weighed for weight in row["weights"] if weight["metric"] in names)
    return max((abs(weight["elasticity"]) for weight in weights), default=0.0) or 1.0


def _weights(row: SensitivityRow, metrics: list[WhatIfMetric], largest: float) -> dict[str, object]:
    weights = {weight["metric"]: abs(weight["elasticity"]) for weight in row["weights"]}
    first = next(weight for weight in row["weights"] if weight["metric"] == metrics[0]["metric"])
    is_spread = row["seconds_min"] != row["seconds_max"]
    return {
        "operation": row["operation"],
        "seconds": row["seconds"],
        "time": seconds_text(row["seconds"]),
        "weights": [
            {
                "value": weights[metric["metric"]],
                "text": f"{weights[metric['metric']]:.3f} %",
                "width": f"{100 * weights[metric['metric']] / largest:.1f}%",
            }
            for metric in metrics
        ],
        "spread": _spread(first) if is_spread else None,
        "spread_value": _spread_size(first) if is_spread else "",
    }


def _spread_size(weight: MetricWeight) -> float | str:
    changes = (weight["at_min"], weight["at_max"])
    sizes = [abs(change) for change in changes if change is not None]
    return max(sizes) if sizes else ""


def _spread(weight: MetricWeight) -> str | None:
    """Return text on how the main metric changes over the spread of an operation's times."""
    if weight["at_min"] is None or weight["at_max"] is None:
        return None
    return between_text(weight["at_min"], weight["at_max"])


def _worth(row: WorthRow, metrics: list[WhatIfMetric]) -> dict[str, object]:
    predicted = {metric["metric"]: metric for metric in row["metrics"]}
    chosen = [predicted[metric["metric"]] for metric in metrics]
    first = chosen[0]
    interval = first["interval"]
    return {
        "title": row["title"],
        "kind": KINDS[row["kind"]],
        "width": f"{100 * min(1.0, abs(first['change'] or 0.0)):.1f}%",
        "changes": [
            {"text": change_text(metric["change"]), "value": _sorted_by(metric["change"])}
            for metric in chosen
        ],
        "after": value_text(first["after"], first["unit"]),
        "interval": "" if interval is None else between_text(*interval),
    }


def _sorted_by(change: float | None) -> float | str:
    return "" if change is None else change


def _figures(section: WhatIfSection) -> dict[str, object]:
    """Return the numbers that the page's calculator of changes needs."""
    return {
        "metrics": section["metrics"],
        "operations": {
            row["operation"]: {
                "seconds": row["seconds"],
                "elasticity": {weight["metric"]: weight["elasticity"] for weight in row["weights"]},
            }
            for row in section["sensitivity"]
        },
    }
