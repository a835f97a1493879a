"""Predictions from the command to the table, on a real run."""

from __future__ import annotations

import pytest

from assay.analysis.whatif.resampling import PASSES_MIN


def test_a_run_tells_what_halving_two_queries_would_give(tpch_run):
    lab, document = tpch_run
    seconds = {op["name"]: op["seconds"] for op in document["operations"]}
    prediction = lab.document("whatif", "latest", "--halve", "q15,q17")["prediction"]
    metrics = {metric["metric"]: metric for metric in prediction["metrics"]}
    saved = (seconds["q15"] + seconds["q17"]) / 2
    assert metrics["total_seconds"]["before"] == pytest.approx(sum(seconds.values()))
    assert metrics["total_seconds"]["after"] == pytest.approx(sum(seconds.values()) - saved)
    assert metrics["geometric_mean_seconds"]["change"] == pytest.approx(0.25 ** (1 / 22) - 1)
    passes = document["metrics"]["passes"]
    assert prediction["passes"] == (passes if passes >= PASSES_MIN else 0)
    shown = lab.assay("whatif", "latest", "--halve", "q15,q17")
    assert shown.returncode == 0, shown.stderr
    assert "composite without refreshes, not a TPC metric" in shown.stdout


def test_a_run_tells_what_its_metrics_depend_on(tpch_run):
    lab, document = tpch_run
    what_if = lab.document("whatif")["what_if"]
    assert what_if == document["what_if"]
    assert len(what_if["sensitivity"]) == 22
    wrong = lab.assay("whatif", "latest", "--halve", "q99")
    assert wrong.returncode == 1
    assert "no operation 'q99'" in wrong.stderr
