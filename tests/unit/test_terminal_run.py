"""A whole run explained on a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.report.sections.profile import profile_of, section
from assay.report.terminal.run import run_lines
from assay.report.terminal.where import time_line
from tests.explained import explained, with_causes
from tests.loads import an_operation, closed, write_load
from tests.records import MS, write_run
from tests.sampled import as_sampled
from tests.unit.test_profile_terminal import assert_golden

WIDTH = 80
NO_SAMPLES = "this run took no CPU samples: `assay run tpch --profile` takes them."


@pytest.fixture
def run_document(tmp_path: Path) -> dict[str, Any]:
    return with_causes(explained(write_run(tmp_path))[1])


def in_one_line(document: dict[str, Any]) -> str:
    return " ".join(" ".join(run_lines(document, NO_SAMPLES, WIDTH, tried={})).split())


def test_a_page(tmp_path: Path) -> None:
    run, document = explained(as_sampled(write_run(tmp_path)))
    profile = profile_of(run)
    assert profile is not None
    lines = run_lines(with_causes(document), section(run, profile), WIDTH, tried={})
    assert_golden("explain-run.txt", lines)


def without_split(document: dict[str, Any], *names: str) -> dict[str, Any]:
    for operation in document["operations"]:
        if operation["name"] in names:
            operation |= {"where": dict.fromkeys(operation["where"]), "coverage": 1.7}
    return document


def test_what_could_not_be_split_is_in_the_wall_time_and_not_in_the_sum(
    run_document: dict[str, Any],
) -> None:
    wall = time_line(without_split(run_document, "q02")["operations"])
    assert wall is not None
    assert wall.startswith("700 ms of wall time; 600 ms of it could be split: on CPU 240 ms + ")
    page = in_one_line(run_document)
    assert "One pass 700 ms of wall time; 600 ms of it could be split" in page
    assert "Not split q02. q02: not known, the counters of its threads add up to 170 %" in page


def test_a_run_of_which_nothing_could_be_split_says_why(run_document: dict[str, Any]) -> None:
    page = in_one_line(without_split(run_document, "q01", "q02", "q03") | {"where": None})
    assert "Where not known, the counters of its threads add up to 170 %" in page


def test_what_is_not_there_says_why(run_document: dict[str, Any]) -> None:
    run_document |= {"findings": [], "plans": {}}
    run_document["plan_capture"] |= {"reason": "the record is older than plans are"}
    page = in_one_line(run_document)
    assert "Why there is no finding" in page
    assert "Plans not measured, the record is older than plans are" in page
    assert (
        "CPU samples not measured, this run took no CPU samples: `assay run tpch --profile`"
    ) in page


def test_a_load_has_no_pass(tmp_path: Path) -> None:
    rows = [an_operation(number, number * 50 * MS, 0, 100 * MS) for number in range(20)]
    write_load(tmp_path, closed(2), rows, 1.0)
    _, whole_document = explained(next(tmp_path.iterdir()))
    page = in_one_line(whole_document | {"where": None})
    assert "One pass" not in page
    assert "(probe waits), and the run has none" in page
    shares = dict.fromkeys(whole_document["operations"][0]["where"]) | {
        "cpu_user": 0.75,
        "uncovered": 0.25,
    }
    document = whole_document | {"where": {"shares": shares, "coverage": 0.75, "uncovered": []}}
    page = in_one_line(document)
    assert "of the service time of all operations" in page
    assert "75 %" in page


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_the_terminal(run_document: dict[str, Any], width: int) -> None:
    lines = [line for line in run_lines(run_document, NO_SAMPLES, width, tried={}) if line]
    longest_word = len(run_document["run"])
    assert max(map(len, lines)) <= max(width, 5 + longest_word)


def test_a_cause_says_what_became_of_such_advice(run_document: dict[str, Any]) -> None:
    finding = next(row for row in run_document["findings"] if row["advice"] is not None)
    says = "advice of this kind saved time in 3 of 4 trials"
    lines = run_lines(run_document, NO_SAMPLES, WIDTH, tried={finding["method"]: says})
    assert f"Tried: {says}" in "\n".join(lines)
    assert says not in in_one_line(run_document)
