"""The study that asks what bounds an operation, and what is told of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.record.reader import Run
from assay.record.studies import read_study
from assay.record.writer import write_json
from assay.report.sections.why import why_document
from assay.report.terminal.why import why_lines
from assay.running.asked.request import RunRequest
from assay.study.why import FREE, QUICK, REMOVED, SCARCE, Depth, why_study
from tests.records import write_run
from tests.scarce import scarce_study, serial, slowed

BASE = RunRequest(workload="tpch", engine="duckdb", scale=0.01, operations=["q01"], min_time_s=0.1)


@pytest.fixture
def pilot(tmp_path: Path) -> Run:
    """A run that reads nothing from the disk."""
    return Run(write_run(tmp_path / "pilot"))


class TestStudy:
    def test_of_an_operation_that_reads_nothing_only_the_cpu_is_made_scarce(
        self, pilot: Run
    ) -> None:
        study = why_study(BASE, pilot, QUICK)
        parts = {part.name: part for part in study.parts}
        names = [variant.name for variant in parts[SCARCE].variants]
        assert names == [FREE, "CPU slowed 1.5 x", "CPU slowed 3 x"]
        assert study.without["disk slowed"] == "it reads nothing from the disk"
        assert study.without["disk limited"] == "it reads nothing from the disk"

    def test_the_run_as_it_is_is_one_run_of_all_parts_of_a_round(self, pilot: Run) -> None:
        study = why_study(BASE, pilot, Depth((2.0,), 2))
        free = [run for run in study.order() if run.request == BASE]
        assert [{operation.part for operation in run.stands_for} for run in free] == [
            {SCARCE, REMOVED}
        ] * 2
        assert len(study.order()) == 2 * 3

    def test_what_cannot_be_asked_for_is_left_out_with_its_reason(self, pilot: Run) -> None:
        study = why_study(
            RunRequest(
                workload="point-select", engine="duckdb", scale=1.0, clients=1, min_time_s=0.0
            ),
            pilot,
            QUICK,
        )
        assert SCARCE in [part.name for part in study.parts]
        assert all(reason for reason in study.without.values())


def study_of(place: Path, cpu: float, disk: float) -> Path:
    """A study's directory, as it is after its runs."""
    made = scarce_study(place, slowed(1.5, 3.0), serial(cpu, disk))
    for entry in made.asked:
        entry["part"] = SCARCE
    made.parts = {SCARCE: made.parts["levels"]}
    return made.write([])


class TestDocument:
    def test_it_has_the_verdict_every_variant_and_the_sum(self, tmp_path: Path) -> None:
        document = why_document(read_study(study_of(tmp_path, 0.05, 0.9)), None)
        assert json.loads(json.dumps(document))["rounds"] == 3
        (operations, *_) = document["operations"]
        assert operations["verdict"]["resources"] == ["disk"]
        assert operations["variants"][0]["name"] == "as it is"
        assert operations["sum"] == pytest.approx(-0.95, abs=0.05)
        assert operations["missing_from_1"] == pytest.approx(1 + operations["sum"])
        assert {
            resource_elasticity["resource"]: resource_elasticity["counts"]
            for resource_elasticity in operations["elasticities"]
        } == {
            "cpu": True,
            "disk": True,
        }

    def test_a_terminal_shows_it_within_its_width(self, tmp_path: Path) -> None:
        document = why_document(read_study(study_of(tmp_path, 0.05, 0.9)), None)
        lines = list(why_lines(document, 80))
        text = "\n".join(lines)
        assert "VERDICT  q01 is bound by the disk: disk -0.9" in text
        assert "disk slowed 3 x" in text
        assert "3 interleaved rounds" in text
        studies = [line for line in lines if not line.startswith(("Study", "Article"))]
        assert max(map(len, studies)) <= 80

    def test_a_study_without_runs_says_so(self, tmp_path: Path) -> None:
        directory = study_of(tmp_path, 0.5, 0.4)
        for run in tmp_path.glob("2026*"):
            write_json(run / "run.json", {})
        document = why_document(read_study(directory), None)
        assert document["operations"] == []
        assert document["unreadable"]
