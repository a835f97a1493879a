"""Lines of the history of predictions that a diagnosis writes."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.try_.calibration import calibrate
from assay.report.diagnosis.remembering import decided_prediction

DOCUMENT: Any = {
    "run": "r",
    "engine": "duckdb",
    "engine_version": "1.4",
    "workload": "tpch",
    "scale": 1.0,
}


def refuted(gain_share: float | None) -> Any:
    advice = {"kind": "index", "subject": "a", "values": {}, "gain_share": gain_share}
    cause = {"method": "missing-index", "operations": ["q01"], "advice": advice}
    return {
        "key": "missing-index:q01",
        "cause": cause,
        "change": "index of a (x)",
        "by_plan": True,
        "trial": None,
    }


@pytest.mark.parametrize(("predicted", "hits"), [(0.4, (0, 1)), (None, (0, 0))])
def test_a_cause_that_plans_refute_is_a_miss(
    predicted: float | None, hits: tuple[int, int]
) -> None:
    row = decided_prediction(DOCUMENT, refuted(predicted), "s", "2026-11-20T10:15:00+00:00")
    record = calibrate([row]).methods["missing-index"]
    assert (record.hits, record.decided) == hits
    assert (row["verdict"], row["judged"], row["rounds"]) == ("no gain", ["q01"], [])
