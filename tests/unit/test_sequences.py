"""Mixes in the terms of their specification: rate by its two formulas, means, what is cut off."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.load.sequences import Sequence, sequence_of
from assay.analysis.summarise import summarise
from assay.record.reader import Run
from assay.report.document import document
from assay.report.words.loads.sequences import metric_words, rows, sequence_lines, specified_figure
from tests.loads import an_operation, closed, write_load
from tests.records import MS

TOLD = {
    "warmup": 0,
    "mixes": 2,
    "rate": "QMpH",
    "seconds": 3600.0,
    "query_time": "aQET",
    "size": "triples",
    "power": "BI Power",
    "throughput": "BI Throughput",
    "unit": 2.0,
}
ORDER = ("a", "b", "b")
# Milliseconds of each operation of two mixes.
TIMES = ((100, 200, 300), (200, 400, 600))


def a_run(
    place: Path, clients: int = 1, *, fails: dict[str, Any] | None = None, gap_ms: int = 0
) -> Run:
    """Mixes of a and two b; of two clients each plays one, of one client one after the other."""
    events, at_ns = [], [0, 0]
    for mix, times in enumerate(TIMES):
        session = mix % clients
        for place_in_mix, ms in enumerate(times):
            number, name = len(events), ORDER[place_in_mix]
            event = an_operation(
                number, at_ns[session], 0, ms * MS, operation=name, session=session
            ) | {"pass": mix}
            if fails and (mix, place_in_mix) == (1, 2):
                event |= fails
            events.append(event)
            at_ns[session] += (ms + gap_ms) * MS
    path = write_load(place, closed(clients), events, max(at_ns) / 1e9)
    run_document = json.loads((path / "run.json").read_text("utf-8"))
    run_document["workload"] |= {"sequence": TOLD, "scale_name": "products"}
    run_document["request"]["scale"] = 4.0
    run_document["plan"]["operation_deadline_ns"] = 500 * MS
    run_document["plan"]["operations"] = ["a", "b"]
    for phase in run_document["plan"]["phases"]:
        phase |= {"operations": [0, 1, 1], "in_order": True}
    (path / "run.json").write_text(json.dumps(run_document), encoding="utf-8")
    return Run(path)


@pytest.mark.parametrize("asked", [{"operations": ["b"]}, {"remove": ["b:x"]}])
def test_a_part_of_the_mix_has_no_name_of_the_specification(
    tmp_path: Path, asked: dict[str, list[str]]
) -> None:
    path = a_run(tmp_path).dir
    run_document = json.loads((path / "run.json").read_text("utf-8"))
    run_document["request"] |= asked
    (path / "run.json").write_text(json.dumps(run_document), encoding="utf-8")
    assert figures(Run(path)) == pytest.approx({"partial mixes": 3600 * 2 / 1.8})


def figures(run: Run) -> dict[str, float]:
    sequence = sequence_of(run)
    assert sequence is not None
    return {metric.name: metric.value for metric in sequence.metrics}


def made(run: Run) -> Sequence:
    sequence = sequence_of(run)
    assert sequence is not None
    return sequence


class TestOneClient:
    def test_only_the_time_of_operations_counts(self, tmp_path: Path) -> None:
        # 1.8 s of operations for two mixes, whatever lies between them.
        run = a_run(tmp_path, gap_ms=50)
        assert figures(run)["QMpH"] == pytest.approx(3600 / (1.8 / 2))
        assert made(run).wall_s == pytest.approx(1.8 + 5 * 0.05)

    def test_power_and_throughput_are_by_their_means(self, tmp_path: Path) -> None:
        metrics = figures(a_run(tmp_path))
        mean_s = math.exp(sum(math.log(ms / 1000) for mix in TIMES for ms in mix) / 6)
        assert metrics["BI Power"] == pytest.approx(4 / 2 * 3600 / mean_s)
        assert metrics["BI Throughput"] == pytest.approx(4 / 2 * 3600 / (1.8 / 6))

    def test_each_operation_has_its_times(self, tmp_path: Path) -> None:
        query, other = made(a_run(tmp_path)).queries
        assert (query.name, query.executions, other.name, other.executions) == ("a", 2, "b", 4)
        assert (query.mean_s, query.min_s, query.max_s) == pytest.approx((0.15, 0.1, 0.2))
        assert query.geometric_mean_s == pytest.approx(math.sqrt(0.1 * 0.2))
        assert (query.share, other.share) == pytest.approx((0.3 / 1.8, 1.5 / 1.8))


class TestSeveralClients:
    def test_mixes_of_all_are_counted_by_the_clock(self, tmp_path: Path) -> None:
        # The second client is at work for 1.2 s.
        run = a_run(tmp_path, clients=2)
        assert figures(run)["QMpH"] == pytest.approx(2 * 3600 / 1.2)
        assert figures(run)["BI Throughput"] == pytest.approx(4 / 2 * 3600 / (1.2 / 6))
        assert made(run).mixes_per_s == pytest.approx(2 / 1.2)


class TestWhatFails:
    def test_what_is_cut_off_counts_with_the_time_limit(self, tmp_path: Path) -> None:
        run = a_run(tmp_path, fails={"outcome": "failed", "error": "deadline"})
        assert figures(run)["QMpH"] == pytest.approx(2 * 3600 / 1.7)
        query = made(run).queries[1]
        assert (query.cut_off, query.max_s) == (1, pytest.approx(0.5))

    def test_a_mix_in_which_another_thing_failed_does_not_count(self, tmp_path: Path) -> None:
        run = a_run(tmp_path, fails={"outcome": "failed", "error": "08006"})
        assert made(run).mixes == 1
        assert figures(run)["QMpH"] == pytest.approx(3600 / 0.6)


class TestWords:
    def test_results_are_named_with_size_and_clients(self, tmp_path: Path) -> None:
        run = a_run(tmp_path)
        assert (made(run).size, made(run).size_name) == (4.0, "products")
        run.__dict__["environment"] = {"data": {"tables": {"triples": {"rows": 374_911}}}}
        assert (made(run).size, made(run).size_name) == (374_911.0, "triples")

    def test_the_document_has_them(self, tmp_path: Path) -> None:
        run = a_run(tmp_path, fails={"outcome": "failed", "error": "deadline"})
        run_document = document(run, run.dir)
        assert specified_figure(run_document) == "QMpH 4,235"
        assert metric_words(run_document)[0].startswith(
            "QMpH(4 products, 1 client) 4,235: mixes in 3600 s"
        )
        assert [row.name for row in rows(run_document)] == ["a", "b"]
        heads = next(line for line in sequence_lines(run_document, 80) if "aQET" in line)
        assert heads.split() == [
            "count",
            "aQET",
            "geometric",
            "least",
            "most",
            "share",
            "cut",
            "off",
        ]
        assert run_document["metrics"]["mixes_per_s"] == pytest.approx(2 / 1.7)

    def test_other_loads_have_none(self, tmp_path: Path) -> None:
        path = write_load(tmp_path, closed(1), [an_operation(0, 0, 0, MS, session=0)], 1.0)
        assert sequence_of(Run(path)) is None
        assert summarise(Run(path)).metrics["mixes_per_s"] is None
