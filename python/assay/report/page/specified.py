"""Values of a page's template for a TPC-H test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from assay.model.units import bytes_text, percent_text, seconds_text
from assay.report.words.loads.specified import metric_text, spread_moves

if TYPE_CHECKING:
    from assay.report.documents.load.specified import (
        QueryMemory,
        SpecifiedMetric,
        SpecifiedMetricKind,
        SpecifiedRun,
        SpecifiedTestSection,
        SpecifiedWeight,
        SteadyPasses,
    )
    from assay.report.documents.run import RunDocument

ABOUT_WEIGHTS = (
    "A weight is the change of a metric in per cent if an operation's time changes by one per cent."
)
# Explanation of the weights in each metric of the test.
ABOUT_WEIGHTS_IN: dict[SpecifiedMetricKind, str] = {
    "power": " In the power metric every operation has the same weight, however short it is.",
    "throughput": (
        " In the throughput metric only the stream that ends last counts, by the operation's share"
        " of it."
    ),
    "composite": " The composite metric has half of each weight; Ts itself weighs one half in it.",
}
# Key of a column in the table of runs, its heading, and its description.
RUN_COLUMNS = (
    ("composite", "composite", ""),
    ("power", "power", ""),
    ("throughput", "throughput", ""),
    ("power_seconds", "power test", ""),
    ("elapsed", "Ts", "elapsed time of the throughput test, rounded up to 0.01 s"),
    ("share", "utilised", ""),
)
# Source of the spread, and the headings and descriptions of the columns of weights.
OVER_TESTS = "over the power tests or steady passes"
WEIGHT_COLUMNS = (
    ("power test", "interval in the power test"),
    ("in streams", "mean of its intervals in the throughput test"),
    ("cores", "CPU seconds a second in the power test"),
    ("in power", "weight in the power metric"),
    ("in throughput", "weight in the throughput metric"),
    ("in composite", "weight in the composite"),
    ("shortest", OVER_TESTS),
    ("longest", OVER_TESTS),
    ("moves it", "change of the first metric from the longest to the shortest interval"),
)
ABOUT_UTILISATION = (
    "Elapsed seconds per stream, divided by the seconds of the power test. Below 100 %, the "
    "power test left a part of the machine unused; above 100 %, streams slowed each other."
)
ABOUT_MEMORY = (
    "Hash tables and sorts grow with the data, and every stream has its own. Caches of data "
    "have a fixed size and are not included."
)


class WeightRow(NamedTuple):
    """One operation in the page's table of weights in TPC-H metrics."""

    operation: str
    cells: list[dict[str, object]]


def words_of_test(document: RunDocument) -> dict[str, object] | None:
    """Return the page's tables and sentences on a TPC-H test; None without one."""
    test = document["test"]
    if test is None:
        return None
    parallelism = {op["name"]: op["parallelism"] for op in document["operations"]}
    weights = [_weight(weight, parallelism) for weight in test["sensitivity"]]
    shown = [
        place
        for place in range(len(WEIGHT_COLUMNS))
        if any(not row.cells[place]["missing"] for row in weights)
    ]
    runs = [_run(run, test) for run in test["runs"]]
    return {
        "metrics": [_metric(metric) for metric in test["metrics"]],
        "reported": test["reported_run"] if len(test["runs"]) > 1 else None,
        "why_not": test["why_not"],
        "left_out": test["left_out"],
        "title": test["metrics"][0]["title"],
        "warnings": test["warnings"],
        "runs": runs,
        "run_columns": [column for column in RUN_COLUMNS if any(run[column[0]] for run in runs)],
        "weights": [
            {"operation": row.operation, "cells": [row.cells[place] for place in shown]}
            for row in weights
        ],
        "weight_columns": [WEIGHT_COLUMNS[place] for place in shown],
        "about_weights": _about_weights(test),
        "about_utilisation": ABOUT_UTILISATION if test["utilisation"] else None,
        "memory": _memory(test["memory"]),
        "about_memory": ABOUT_MEMORY,
        "steady": _steady(test["steady"]),
    }


def _about_weights(test: SpecifiedTestSection) -> str:
    weighed = test["sensitivity"]
    sentences = [
        sentence
        for kind, sentence in ABOUT_WEIGHTS_IN.items()
        if any(weight[kind] is not None for weight in weighed)
    ]
    return ABOUT_WEIGHTS + "".join(sentences)


def _metric(metric: SpecifiedMetric) -> dict[str, str]:
    return {
        "label": metric["label"],
        "value": metric_text(metric["value"]),
        "unrounded": metric_text(metric["unrounded"]),
    }


def _run(run: SpecifiedRun, test: SpecifiedTestSection) -> dict[str, object]:
    shares = {used_in["run"]: used_in for used_in in test["utilisation"]}
    used = shares.get(run["run"])
    counted = run["elapsed_counted_seconds"]
    return {
        "run": run["run"],
        "is_reported": run["run"] == test["reported_run"],
        "composite": _known_metric(run["composite_per_h"]),
        "power": _known_metric(run["power_per_h"]),
        "throughput": _known_metric(run["throughput_per_h"]),
        "power_seconds": "" if run["power_seconds"] is None else f"{run['power_seconds']:,.2f} s",
        "elapsed": "" if counted is None else f"{counted:,.2f} s",
        "share": "" if used is None else percent_text(used["share"]),
    }


def _known_metric(value: float | None) -> str:
    return "" if value is None else metric_text(value)


def _weight(weight: SpecifiedWeight, parallelism: dict[str, float | None]) -> WeightRow:
    cores, moves = parallelism.get(weight["operation"]), spread_moves(weight)
    return WeightRow(
        weight["operation"],
        [
            _cell(weight["power_seconds"], seconds_text),
            _cell(weight["throughput_seconds"], seconds_text),
            _cell(cores, lambda value: f"{value:.1f}"),
            _cell(weight["power"], _weight_text),
            _cell(weight["throughput"], _weight_text),
            _cell(weight["composite"], _weight_text),
            _cell(weight["seconds_min"], seconds_text),
            _cell(weight["seconds_max"], seconds_text),
            _cell(moves, lambda value: f"{100 * value:.2f} %"),
        ],
    )


def _cell(value: float | None, text_of: Any) -> dict[str, object]:  # noqa: ANN401 - any formatter
    if value is None:
        return {"value": "", "text": "", "missing": True}
    return {"value": abs(value), "text": text_of(value), "missing": False}


def _weight_text(weight: float) -> str:
    return f"{100 * abs(weight):.2f} %"


def _memory(memory: QueryMemory | None) -> dict[str, object] | None:
    """Return a table of memory peaks by scale for a TPC-H test; None without peaks."""
    if memory is None:
        return None
    peaks = memory["peaks"]
    scales = [(larger["scale"], larger["streams"]) for larger in peaks[0]["larger"]]
    return {
        "formula": memory["formula"],
        "heads": [(f"SF {scale:,g}", _streams(streams)) for scale, streams in scales],
        "rows": [
            (
                peak["what"],
                _streams(peak["streams"]),
                bytes_text(peak["bytes"]),
                [bytes_text(larger["bytes"]) for larger in peak["larger"]],
            )
            for peak in peaks
        ],
    }


def _streams(count: int) -> str:
    return f"{count} stream{'s' if count != 1 else ''}"


def _steady(steady: SteadyPasses | None) -> dict[str, object] | None:
    if steady is None:
        return None
    count, before, compared = len(steady["passes"]), steady["before"], steady["compared"]
    sentence = (
        f"Steady after {before} of {count} passes; each query has its median over the next "
        f"{compared}."
    )
    if before is None:
        sentence = f"Not steady: the last {compared} of {count} passes differ too much."
    figure = [] if steady["figure"] is None else [("steady", steady["figure"])]
    passes = [(f"pass {place}", times) for place, times in enumerate(steady["passes"], start=1)]
    return {
        "sentence": sentence,
        "rows": [
            (
                name,
                seconds_text(times["sum_seconds"]),
                seconds_text(times["geometric_mean_seconds"]),
            )
            for name, times in [*figure, *passes]
        ],
    }
