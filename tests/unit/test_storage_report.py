"""What a run tells of its disk and CPUs: as a document, on a page and on a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.record.reader import Run
from assay.report.charts.storage import chart
from assay.report.document import document
from assay.report.page.run import page
from assay.report.sections.storage import POINTS_MAX, interval_for, storage_section
from assay.report.words.storage import storage_lines
from tests.conftest import write_stream
from tests.records import OPERATIONS, PASSES, write_run
from tests.traced import READS, as_traced


def storage_of(directory: Path) -> dict[str, Any]:
    section = storage_section(Run(directory))
    assert section is not None
    return section


def read_by(run_document: dict[str, Any], **reads: float) -> dict[str, Any]:
    """The document's section with operations that read so much in a second."""
    for operation in run_document["operations"]:
        count = reads.get(operation["operation"], 0)
        operation |= {"reads": count, "reads_per_s": count / operation["seconds"], "metered": True}
    return run_document


class TestSection:
    def test_the_machine_is_as_its_counters_say(self, tmp_path: Path) -> None:
        """The engine is 52 % of two CPUs and reads 10 MB a second."""
        storage = storage_of(write_run(tmp_path))
        assert (storage["device"], storage["interval_s"]) == ("vda", 0.1)
        assert storage["measured"]["%usr"] == pytest.approx(52.0, abs=0.01)
        assert storage["measured"]["%idle"] == pytest.approx(48.0, abs=0.01)
        assert storage["measured"]["rkB/s"] == pytest.approx(1e7 / 1024, rel=1e-4)
        assert set(map(len, storage["disk"].values())) == {len(storage["disk"]["time_s"])}
        assert storage["disk"]["rkB/s"] == pytest.approx(
            [1e7 / 1024] * len(storage["disk"]["time_s"])
        )
        assert {
            operation["operation"]: operation["executions"] for operation in storage["operations"]
        } == dict.fromkeys(OPERATIONS, PASSES)

    def test_where_no_cpu_was_counted_the_disk_is_shown_alone(self, tmp_path: Path) -> None:
        run = write_run(tmp_path)
        (run / "raw" / "cpus.arrows").unlink()
        write_stream(run / "raw" / "cpus.arrows", [])
        storage = storage_of(run)
        assert storage["measured"]["%usr"] is None
        assert storage["measured"]["rkB/s"] == pytest.approx(1e7 / 1024, rel=1e-4)
        assert storage["cpu"]["time_s"] == []
        panels = chart(storage, 1.0).to_dict()["vconcat"]
        assert len(panels) == 3

    def test_only_the_measured_part_is_shown(self, tmp_path: Path) -> None:
        disk_section = storage_of(write_run(tmp_path))["disk"]
        assert min(disk_section["time_s"]) > 0
        span_s = PASSES * sum(OPERATIONS.values())
        assert max(disk_section["time_s"]) < span_s * 1.2 + 0.2

    def test_intervals_are_round_and_few_enough(self) -> None:
        assert interval_for(10.0, 0.1) == 0.1
        assert interval_for(240.0, 0.1) == 1.0
        assert interval_for(3600.0, 0.1) == 30.0
        assert interval_for(5.0, 1.0) == 1.0
        for span_s in (1.0, 77.0, 5_000.0, 100_000.0):
            assert span_s / interval_for(span_s, 0.001) <= POINTS_MAX

    def test_a_run_without_probes_has_none(self, tmp_path: Path) -> None:
        assert storage_section(Run(write_run(tmp_path, probes=False))) is None

    def test_requests_are_told_or_why_not(self, tmp_path: Path) -> None:
        plain = storage_of(write_run(tmp_path / "plain"))
        assert (plain["requests"], "--block-trace" in plain["requests_reason"]) == (None, True)
        refused = storage_of(as_traced(write_run(tmp_path / "refused"), "not permitted"))
        assert refused["requests_reason"] == "requests could not be traced: not permitted"
        traced = storage_of(as_traced(write_run(tmp_path / "traced")))
        assert traced["requests_reason"] is None
        (whole,) = (
            operation
            for operation in traced["requests"]["operations"]
            if operation["operation"] == "all"
        )
        assert whole["reads"] == READS * PASSES * len(OPERATIONS)
        each = next(
            operation
            for operation in traced["requests"]["operations"]
            if operation["operation"] == "q01"
        )
        assert each["sequential_share"] == pytest.approx(1 / 3)


class TestPage:
    def test_it_has_the_charts_and_the_tables(self, tmp_path: Path) -> None:
        directory = as_traced(write_run(tmp_path))
        run = Run(directory)
        text = page(run, document(run, directory))
        for part in ("chart-storage", "chart-contiguity", "reads-by-operation"):
            assert f'id="{part}"' in text
        assert "7 requests came faster" in text

    def test_what_was_not_traced_says_why(self, tmp_path: Path) -> None:
        directory = write_run(tmp_path)
        run = Run(directory)
        text = page(run, document(run, directory))
        assert "How contiguous reads were: block requests were not traced" in text
        assert 'id="chart-contiguity"' not in text

    def test_what_the_chart_draws_can_be_taken(self, tmp_path: Path) -> None:
        from assay.report.charts.run import Charts

        directory = as_traced(write_run(tmp_path))
        charts = Charts(document(Run(directory), directory), None)
        (series,) = charts.data("storage").values()
        assert series.startswith("time_s,figure,value\n")
        (classes,) = charts.data("contiguity").values()
        assert "distance,0,true," in classes


class TestTerminal:
    def lines(
        self, run_document: dict[str, Any], width: int = 80, *, everything: bool = False
    ) -> list[str]:
        return list(storage_lines({"storage": run_document}, width, everything=everything))

    def test_operations_that_read_come_most_first(self, tmp_path: Path) -> None:
        reads = read_by(storage_of(write_run(tmp_path)), q02=100.0, q03=300.0)
        heading, names, *rows = self.lines(reads)
        assert heading.startswith("Disk vda and CPUs")
        assert names.split()[:4] == ["reads", "r/s", "rkB/s", "rareq-sz"]
        assert [row.split()[0] for row in rows[:3]] == ["q03", "q02", "all"]
        assert rows[0].split()[1:3] == ["300", "1,500"]

    def test_nothing_read_is_said(self, tmp_path: Path) -> None:
        reads = read_by(storage_of(write_run(tmp_path)))
        assert any("Operations read nothing from the device." in line for line in self.lines(reads))

    def test_rough_figures_are_said_to_be(self, tmp_path: Path) -> None:
        reads = read_by(storage_of(write_run(tmp_path)), q02=100.0)
        assert not any("rough" in line for line in self.lines(reads))
        next(operation for operation in reads["operations"] if operation["operation"] == "q02")[
            "metered"
        ] = False
        assert any("rough" in line for line in self.lines(reads))

    def test_the_rest_is_counted(self, tmp_path: Path) -> None:
        storage = storage_of(write_run(tmp_path))
        first_operation = storage["operations"][0]
        storage["operations"] = [
            first_operation | {"operation": f"x{place}", "reads": 1.0, "metered": True}
            for place in range(12)
        ]
        assert "  2 more: --all" in self.lines(storage)
        assert not any("more" in line for line in self.lines(storage, everything=True))

    @pytest.mark.parametrize("width", [60, 80, 100])
    def test_no_line_is_wider_than_the_terminal(self, tmp_path: Path, width: int) -> None:
        reads = read_by(storage_of(as_traced(write_run(tmp_path))), q01=12_345.0)
        lines = self.lines(reads, width)
        assert any("contiguous" in line for line in lines)
        assert max(map(len, lines)) <= width

    def test_a_run_without_a_device_says_nothing(self) -> None:
        assert list(storage_lines({"storage": None}, 80, everything=False)) == []


def test_the_section_is_plain_json(tmp_path: Path) -> None:
    storage = storage_of(as_traced(write_run(tmp_path)))
    assert json.loads(json.dumps(storage, allow_nan=False)) == storage
