"""`assay whatif`: what it prints, what its documents hold, what it refuses with which mend.

`ASSAY_WRITE_GOLDEN=1` writes the texts anew; read the difference before keeping it.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.summarise import summarise
from assay.analysis.whatif import measured_of, predict
from assay.analysis.whatif.changes import ScaleOperation, SetCores
from assay.analysis.whatif.timing import TimedOperation
from assay.cli.main import run_command
from assay.cli.shared.in_order import in_order
from assay.record.reader import Run
from assay.report.document import document
from assay.report.terminal.what_if import predicted_lines
from tests.loads import an_operation, closed, write_load
from tests.records import MS, OPERATIONS, write_run
from tests.sampled import as_sampled

GOLDEN = Path(__file__).parents[1] / "golden"
LINE_MAX = 80


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    place = tmp_path / "runs"
    as_sampled(write_run(place))
    return place


def asked(capsys: pytest.CaptureFixture[str], runs: Path, *options: str) -> tuple[int, str, str]:
    code = run_command(["whatif", *options, "--runs", str(runs)])
    out, err = capsys.readouterr()
    return code, out, err


def as_document(capsys: pytest.CaptureFixture[str], runs: Path, *options: str) -> dict[str, Any]:
    code, out, _ = asked(capsys, runs, *options, "--json")
    assert code == 0
    run_document: dict[str, Any] = json.loads(out)
    return run_document


def totals(run_document: dict[str, Any]) -> dict[str, float]:
    return {metric["metric"]: metric["after"] for metric in run_document["prediction"]["metrics"]}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("whatif-sensitivity.txt", []),
        ("whatif-halved.txt", ["latest", "--halve", "q01,q02"]),
        ("whatif-removed.txt", ["latest", "--remove-operation", "hash probe", "--cores", "4"]),
    ],
)
def test_what_people_see(
    runs: Path, capsys: pytest.CaptureFixture[str], name: str, options: list[str]
) -> None:
    code, out, err = asked(capsys, runs, *options)
    assert (code, err) == (0, "")
    assert max(len(line) for line in out.splitlines()) <= LINE_MAX
    path = GOLDEN / name
    if os.environ.get("ASSAY_WRITE_GOLDEN"):
        path.write_text(out, encoding="utf-8")
    assert out == path.read_text(encoding="utf-8")


def test_an_interval_fits_beside_what_is_left_open(tmp_path: Path) -> None:
    directory = write_run(tmp_path)
    run = Run(directory)
    measured = measured_of(run, summarise(run))
    first, *others = (replace(op, passes=op.passes * 3) for op in measured.operations)
    # Only one of them changes, and its share of the time is another in each pass.
    passes = tuple(reversed(first.passes[:3])) * 3
    split = {"cpu_user": 0.6, "idle": 0.2}
    varied = (replace(first, passes=passes, thread_s=split, threads=2.0), *others)
    facts = predict(replace(measured, operations=varied), [SetCores(1)]).facts()
    lines = list(predicted_lines(document(run, directory), facts, LINE_MAX))
    assert max(map(len, lines)) <= LINE_MAX
    heading = next(line for line in lines if "before" in line)
    assert heading.endswith("9 passes, %")
    total = next(line for line in lines if line.startswith("  total "))
    assert total.count(" to ") == 2


def test_an_interval_without_width_is_none(runs: Path) -> None:
    (directory,) = runs.iterdir()
    run = Run(directory)
    measured = measured_of(run, summarise(run))
    whole = tuple(replace(op, passes=(op.seconds,) * 5) for op in measured.operations)
    facts = predict(replace(measured, operations=whole), [ScaleOperation("q01", 0.5)]).facts()
    assert facts["passes"] == 5
    text = "\n".join(predicted_lines(document(run, directory), facts, LINE_MAX))
    assert " to " not in text
    assert "passes" not in text


def test_a_figure_of_some_operations_says_of_how_many(runs: Path) -> None:
    (directory,) = runs.iterdir()
    run = Run(directory)
    measured = measured_of(run, summarise(run))
    first, *others = measured.operations
    partly = replace(measured, operations=(replace(first, thread_s=None), *others))
    facts = predict(partly, [SetCores(1)]).facts()
    assert (facts["known_operations"], facts["measured_operations"]) == (2, 3)
    lines = list(predicted_lines(document(run, directory), facts, LINE_MAX))
    heading = next(line for line in lines if "before" in line)
    assert heading.startswith("  2 of 3 operations")
    assert heading.index("before") == len("  2 of 3 operations") + 3
    whole = predict(measured, [SetCores(1)]).facts()
    lines = list(predicted_lines(document(run, directory), whole, LINE_MAX))
    assert "operations" not in next(line for line in lines if "before" in line)


def test_operations_that_were_asked_for_come_first_and_are_all_told(runs: Path) -> None:
    (directory,) = runs.iterdir()
    run = Run(directory)
    made = tuple(
        TimedOperation(
            f"q{number:02}", 10.0 - number / 2, thread_s={"cpu_user": 19.0 - number}, threads=2.0
        )
        for number in range(1, 16)
    )
    measured = replace(measured_of(run, summarise(run)), operations=made, cores=2)
    asked = [ScaleOperation(f"q{number:02}", 0.9) for number in range(5, 16)]
    prediction = predict(measured, [*asked, ScaleOperation("q01", 0.1), ScaleOperation("q02", 1.0)])
    lines = list(predicted_lines(document(run, directory), prediction.facts(), LINE_MAX))
    names = [line.split()[0] for line in lines if " -> " in line]
    assert set(names) == {"q01", *(f"q{number:02}" for number in range(5, 16))}
    prediction = predict(measured, [SetCores(1), ScaleOperation("q15", 0.99)])
    assert prediction.operations[0].name == "q15"


def test_a_load_has_means_and_no_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [an_operation(number, number * 50 * MS, 0, 100 * MS) for number in range(20)]
    write_load(tmp_path, closed(2), rows, 1.0)
    code, out, _ = asked(capsys, tmp_path)
    assert code == 0
    assert "fastest" not in out
    prediction = as_document(capsys, tmp_path, "latest", "--halve", "select,update")["prediction"]
    metrics = {metric["metric"]: metric["change"] for metric in prediction["metrics"]}
    assert metrics == pytest.approx({"service_seconds_mean": -0.5, "throughput_per_s": 1.0})
    code, _, err = asked(capsys, tmp_path, "latest", "--remove-wait", "lock")
    assert code == 1
    assert "no --clients" in err


def test_a_halved_query_in_a_document(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_document = as_document(capsys, runs, "latest", "--halve", "q01,q02")
    whole = sum(OPERATIONS.values())
    halved = (OPERATIONS["q01"] + OPERATIONS["q02"]) / 2
    assert totals(run_document)["total_seconds"] == pytest.approx(whole - halved)
    assert {op["operation"] for op in run_document["prediction"]["operations"]} == {"q01", "q02"}


def test_without_a_change_the_section_of_the_document_is_printed(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    what_if = as_document(capsys, runs)["what_if"]
    assert [sensitivity_row["operation"] for sensitivity_row in what_if["sensitivity"]] == list(
        OPERATIONS
    )
    assert "hash probe" in {worth_row["subject"] for worth_row in what_if["worth"]}


def test_changes_are_carried_out_as_they_were_given(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rest = OPERATIONS["q02"] + OPERATIONS["q03"]
    given, halved = ("--operation-time", "q01=300ms"), ("--halve", "q01")
    first = totals(as_document(capsys, runs, "latest", *halved, *given))["total_seconds"]
    second = totals(as_document(capsys, runs, "latest", *given, *halved))["total_seconds"]
    assert first == pytest.approx(rest + 0.3)
    assert second == pytest.approx(rest + 0.15)


def test_options_keep_their_order_and_those_of_a_file_come_first() -> None:
    values = {"halve": ["of a file", "b", "d"], "cores": [4]}
    arguments = ["latest", "--halve", "b", "--cores=4", "--halve=d"]
    assert list(in_order(arguments, values)) == [
        ("halve", "of a file"),
        ("halve", "b"),
        ("cores", "4"),
        ("halve", "d"),
    ]


@pytest.mark.parametrize(
    ("options", "mend"),
    [
        (["--halve", "q0"], "did you mean 'q0"),
        (["--halve", "q01,,q02"], "--halve q15,q17"),
        (["--operation-time", "q01"], "--operation-time q02=120ms"),
        (["--operation-time", "q01=fast"], "--operation-time q02=120ms"),
        (["--operation-time", "q01=0s"], "above 0"),
        (["--scale-operation", "q01=x"], "--scale-operation q09=0.7"),
        (["--scale-operation", "q01=-1"], "above 0"),
        (["--remove-operation", "hash prob"], "did you mean 'hash probe'"),
        (["--remove-wait", "lok"], "did you mean 'lock'"),
        (["--remove-wait", "idle worker"], "follows from"),
        (["--cores", "0"], "1 or more"),
        (["--cores", "many"], "valid integer"),
    ],
)
def test_wrong_usage_names_the_mend(
    runs: Path, capsys: pytest.CaptureFixture[str], options: list[str], mend: str
) -> None:
    code, out, err = asked(capsys, runs, "latest", *options)
    assert (code, out) == (1, "")
    assert mend in err


def test_work_of_a_run_without_samples_says_how_to_get_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path)
    code, _, err = asked(capsys, tmp_path, "latest", "--remove-operation", "hash probe")
    assert code == 1
    assert "--profile" in err


def test_a_run_with_a_failed_operation_has_nothing_to_predict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path, failing="q02")
    for options in ([], ["latest", "--halve", "q01"]):
        code, out, err = asked(capsys, tmp_path, *options)
        assert (code, out) == (1, "")
        assert "q02" in err
        assert "Traceback" not in err
