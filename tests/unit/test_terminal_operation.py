"""One operation on one page of a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import run_command
from assay.report.sections.operation import operation_of
from assay.report.sections.profile import profile_of, section
from assay.report.terminal.operation import operation_lines
from assay.report.words.run import bridge_words
from tests.explained import SPILLED, explained, with_causes
from tests.records import write_run
from tests.sampled import as_sampled
from tests.unit.test_profile_terminal import assert_golden

WIDTH = 80
NO_SAMPLES = "this run took no CPU samples: `assay run tpch --profile` takes them."


@pytest.fixture
def run_document(tmp_path: Path) -> dict[str, Any]:
    return with_causes(explained(write_run(tmp_path))[1])


# What every piece of evidence of a document has beside its words.
SEEN = {"witness": "wait", "contradicts": False}


def test_a_page(tmp_path: Path) -> None:
    run, document = explained(as_sampled(write_run(tmp_path)))
    profile = profile_of(run)
    assert profile is not None
    sampled = section(run, profile, "q01")
    assert_golden("explain-page.txt", operation_lines(with_causes(document), "q01", sampled, WIDTH))


def test_what_is_not_there_says_why(tmp_path: Path) -> None:
    _, document = explained(write_run(tmp_path, probes=False))
    document |= {"findings": [], "plans": {}}
    document["plan_capture"] |= {"reason": "the record is older than plans are", "missing": []}
    for operation in document["operations"]:
        operation["where"] = dict.fromkeys(operation["where"])
    page = "\n".join(operation_lines(document, "q02", NO_SAMPLES, WIDTH))
    assert "Why           no finding names q02" in page
    assert "older than plans are" in page
    assert "no counters were read around the operation" in page
    assert "CPU samples   not measured, this run took no CPU samples" in page


def test_what_could_not_be_split_says_why_with_its_figure(run_document: dict[str, Any]) -> None:
    operation = next(
        measured_operation
        for measured_operation in run_document["operations"]
        if measured_operation["name"] == "q02"
    )
    operation |= {"where": dict.fromkeys(operation["where"]), "coverage": 1.584}
    page = " ".join(" ".join(operation_lines(run_document, "q02", NO_SAMPLES, WIDTH)).split())
    assert "add up to 158 % of their time" in page
    assert "100 ms is too short" in page
    assert "no counters were read" not in page


def test_an_engine_that_is_not_followed_is_said_to_be(run_document: dict[str, Any]) -> None:
    run_document["accounts"]["by_account_s"] = {"driver": 0.2, "bridge": 0.5}
    for operation in run_document["operations"]:
        operation["where"] = dict.fromkeys(operation["where"])
    page = " ".join(" ".join(operation_lines(run_document, "q02", NO_SAMPLES, WIDTH)).split())
    assert (
        "the engine's processes are not known on this host, so their counters were not read" in page
    )


def test_the_bridge_has_an_account_of_its_own(run_document: dict[str, Any]) -> None:
    assert bridge_words(run_document) == []
    run_document["accounts"] |= {"window_s": 2.0, "by_account_s": {"engine": 1.0, "bridge": 0.5}}
    assert bridge_words(run_document) == ["bridge 25 % of a core"]


def test_operations_of_sessions_that_share_threads_say_so(run_document: dict[str, Any]) -> None:
    for operation in run_document["operations"]:
        operation |= {"where": dict.fromkeys(operation["where"]), "coverage": None}
    of_load = run_document | {"pace": {"interval_s": 1.0, "throughput_per_s": [], "waiting": None}}
    page = " ".join(" ".join(operation_lines(of_load, "q02", NO_SAMPLES, WIDTH)).split())
    assert "so the split is known for all operations together only" in page
    page = " ".join(
        " ".join(operation_lines(of_load | {"where": None}, "q02", NO_SAMPLES, WIDTH)).split()
    )
    assert "(probe waits), and the run has none" in page


class TestFindings:
    def with_findings(self, document: dict[str, Any]) -> dict[str, Any]:
        first = document["findings"][0] | {"to_try": None, "advice": None}
        optimiser = first | {
            "key": "optimiser:q02",
            "claim": "Parsing took 8 % of the time, most in q02 and q01",
            "operations": ["q02", "q01"],
            "evidence": [
                {"says": "q02: 40 ms of planning", "at": "where:q02", **SEEN},
                {"says": "q01: 31 ms of planning", "at": "where:q01", **SEEN},
            ],
            "fractions": {"q02": 0.4, "q01": 0.08},
        }
        hot = first | {
            "key": "hot-operations:q01",
            "claim": "q01 is 57 % of the time",
            "tells": "shape",
            "operations": ["q01"],
            "fractions": {"q01": 1.0},
            "to_try": f"assay explain {document['run']} --operation q01",
        }
        spilled = document["findings"][0] | {"fractions": {"q01": 0.31, "q03": 0.02}}
        return document | {"findings": [optimiser, spilled, hot]}

    def page(self, document: dict[str, Any], name: str) -> str:
        return "\n".join(operation_lines(self.with_findings(document), name, NO_SAMPLES, WIDTH))

    def test_its_own_share_comes_first_and_the_largest_before_others(
        self, run_document: dict[str, Any]
    ) -> None:
        page = self.page(run_document, "q01")
        assert "  1  q01: 31 % of its time. q01 spilled 1.1 GiB" in page
        assert "  2  q01: 8.0 % of its time. Parsing took" in page
        assert "  1  q03: 2.0 % of its time. q01 spilled" in self.page(run_document, "q03")

    def test_evidence_is_of_this_operation(self, run_document: dict[str, Any]) -> None:
        assert "q02: 40 ms of planning" not in self.page(run_document, "q01")
        assert "q01: 31 ms of planning" in self.page(run_document, "q01")

    def test_the_page_itself_is_not_advised_and_all_of_its_time_is_no_news(
        self, run_document: dict[str, Any]
    ) -> None:
        page = self.page(run_document, "q01")
        assert "  3  q01 is 57 % of the time (" in page
        assert "--operation q01" not in page

    def test_the_document_has_the_share(self, run_document: dict[str, Any]) -> None:
        findings = operation_of(self.with_findings(run_document), "q01")["findings"]
        assert [operation_finding["fraction"] for operation_finding in findings] == [
            0.31,
            0.08,
            None,
        ]


def test_an_operation_that_failed_says_how(tmp_path: Path) -> None:
    _, document = explained(write_run(tmp_path, failing="q02"))
    page = "\n".join(operation_lines(document, "q02", NO_SAMPLES, WIDTH))
    assert "Time          failed: out_of_memory" in page


def test_evidence_of_other_operations_is_left_out(run_document: dict[str, Any]) -> None:
    page = "\n".join(operation_lines(run_document, "q03", NO_SAMPLES, WIDTH))
    assert SPILLED in page
    assert "the hash join spilled" not in page
    assert "2 threads were asked for" in page


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_the_terminal(run_document: dict[str, Any], width: int) -> None:
    command = f"assay try {run_document['run']} spill:q01"
    lines = [line for line in operation_lines(run_document, "q01", NO_SAMPLES, width) if line]
    # A word is never cut: a run's id may be longer than a narrow line.
    longest_word = max(len(word) for word in command.split())
    assert max(map(len, lines)) <= max(width, 5 + longest_word)


def test_what_is_told_of_one_operation(run_document: dict[str, Any]) -> None:
    document = operation_of(run_document, "q03")
    assert document["operation"]["name"] == "q03"
    assert [finding["key"] for finding in document["findings"]] == ["spill:q01"]
    assert document["plans"] == []
    assert [missing["reason"] for missing in document["plan_capture"]["missing"]] == [
        "a server refused"
    ]
    assert operation_of(run_document, "q02")["findings"] == []


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
        document = json.loads(capsys.readouterr().out)
        assert document["operation"]["name"] == "q02"
        assert document["profile"]["operation"] == "q02"
        assert document["plans"] == []

    def test_an_unknown_operation_names_the_mend(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_run(tmp_path)
        command = ["explain", "latest", "--operation", "q0", "--runs", str(tmp_path)]
        assert run_command(command) == 1
        assert "did you mean 'q0" in capsys.readouterr().err
