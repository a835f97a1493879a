"""One operation on one page of a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import run_command
from assay.report.operation_section import operation_of
from assay.report.profile_section import profile_of, section
from assay.report.terminal_operation import operation_lines
from tests.explained import SPILLED, explained, with_causes
from tests.records import write_run
from tests.sampled import as_sampled
from tests.unit.test_profile_terminal import assert_golden

WIDTH = 80
NO_SAMPLES = "this run took none: `assay run tpch --profile` takes them."


@pytest.fixture
def told(tmp_path: Path) -> dict[str, Any]:
    return with_causes(explained(write_run(tmp_path))[1])


def test_a_page(tmp_path: Path) -> None:
    run, told = explained(as_sampled(write_run(tmp_path)))
    profile = profile_of(run)
    assert profile is not None
    sampled = section(run, profile, "q01")
    assert_golden("explain-page.txt", operation_lines(with_causes(told), "q01", sampled, WIDTH))


def test_what_is_not_there_says_why(tmp_path: Path) -> None:
    _, told = explained(write_run(tmp_path, probes=False))
    told |= {"findings": [], "plans": {}}
    told["plan_capture"] |= {"reason": "the record is older than plans are", "missing": []}
    for operation in told["operations"]:
        operation["where"] = dict.fromkeys(operation["where"])
    page = "\n".join(operation_lines(told, "q02", NO_SAMPLES, WIDTH))
    assert "Why           no finding names q02" in page
    assert "older than plans are" in page
    assert "no counters were read around it" in page
    assert "CPU samples   not measured, this run took none" in page


def test_an_operation_that_failed_says_how(tmp_path: Path) -> None:
    _, told = explained(write_run(tmp_path, failing="q02"))
    page = "\n".join(operation_lines(told, "q02", NO_SAMPLES, WIDTH))
    assert "Time          failed: out_of_memory" in page


def test_evidence_of_other_operations_is_left_out(told: dict[str, Any]) -> None:
    page = "\n".join(operation_lines(told, "q03", NO_SAMPLES, WIDTH))
    assert SPILLED in page
    assert "the hash join spilled" not in page
    assert "2 threads were asked for" in page


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_the_terminal(told: dict[str, Any], width: int) -> None:
    command = f"assay try {told['run']} spill:q01"
    lines = [line for line in operation_lines(told, "q01", NO_SAMPLES, width) if line]
    # A word is never cut: a run's id may be longer than a narrow line.
    longest_word = max(len(word) for word in command.split())
    assert max(map(len, lines)) <= max(width, 5 + longest_word)


def test_what_is_told_of_one_operation(told: dict[str, Any]) -> None:
    one = operation_of(told, "q03")
    assert one["operation"]["name"] == "q03"
    assert [finding["key"] for finding in one["findings"]] == ["spill:q01"]
    assert one["plans"] == []
    assert [missing["reason"] for missing in one["plan_capture"]["missing"]] == ["a server refused"]
    assert operation_of(told, "q02")["findings"] == []


class TestCommand:
    def test_a_run_without_samples_is_explained_all_the_same(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_run(tmp_path)
        command = ["explain", "latest", "--operation", "q02", "--runs", str(tmp_path)]
        assert run_command(command) == 0
        out = capsys.readouterr().out
        assert "q02  cheapest supplier" in out
        assert "CPU samples   not measured" in out

    def test_its_document_has_all_of_it(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        as_sampled(write_run(tmp_path))
        command = ["explain", "latest", "--operation", "q02", "--runs", str(tmp_path), "--json"]
        assert run_command(command) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["operation"]["name"] == "q02"
        assert told["profile"]["operation"] == "q02"
        assert told["plans"] == []

    def test_an_unknown_operation_names_the_mend(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_run(tmp_path)
        command = ["explain", "latest", "--operation", "q0", "--runs", str(tmp_path)]
        assert run_command(command) == 1
        assert "did you mean 'q0" in capsys.readouterr().err
