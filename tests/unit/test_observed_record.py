"""A record of a server's own statements, as every reader of records sees it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from assay.cli.main import run_command
from assay.model.errors import RecordUnreadableError
from assay.record.reader import Run, find_workload_run
from assay.report.build import build
from assay.report.document import document
from assay.report.terminal.lists.runs import run_line
from assay.report.terminal.operation import operation_lines
from assay.report.terminal.run import run_lines
from assay.report.terminal.summary import render
from tests.schemas import RUN_SCHEMA, validator
from tests.watched import COMMIT, SCAN, UPDATE, write_observed

WIDTH = 80


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    return write_observed(tmp_path_factory.mktemp("runs"), limits=("statements of others: why",))


@pytest.fixture(scope="module")
def observed(run: Run) -> Any:
    return document(run, run.dir)


def printed(observed: Any, *, everything: bool = False) -> str:
    console = Console(record=True, width=WIDTH, highlight=False)
    render(observed, all_operations=everything, console=console)
    return console.export_text()


def test_the_document_is_as_its_schema_says(observed: Any) -> None:
    validator(RUN_SCHEMA).validate(json.loads(json.dumps(observed)))


def test_it_is_valid_without_an_event(observed: Any) -> None:
    verdicts = {check["check"]: check["verdict"] for check in observed["checks"]}
    # Nobody took samples of the host's CPUs.
    assert verdicts == {
        "completeness": "valid",
        "looks": "valid",
        "probes": "valid",
        "steal": "unknown",
    }


def test_statements_are_operations_with_their_share(observed: Any) -> None:
    names = [operation["name"] for operation in observed["operations"]]
    assert names == ["commit", "update-accounts", "select-orders"]
    # Looks saw 10 s of commits; 4.8 s of updates and 2 s of scans were counted.
    shares = [round(operation["share"], 2) for operation in observed["operations"]]
    assert shares == [0.6, 0.29, 0.12]
    assert [statement["basis"] for statement in observed["observed"]["statements"]] == [
        "looks",
        "counters",
        "counters",
    ]
    update = observed["operations"][1]
    assert update["seconds"] == pytest.approx(4.8 / 4_000)
    assert update["throughput_per_s"] == pytest.approx(200.0)
    assert update["where"]["lock"] == pytest.approx(0.5)
    assert update["latency"] is None


def test_causes_are_said(observed: Any) -> None:
    assert observed["operations"][0]["where"]["log"] == pytest.approx(1.0)
    assert observed["time"]["run"] is not None
    claims = " ".join(finding["claim"] for finding in observed["findings"])
    assert "commit" in claims


def test_no_finding_names_a_command_that_would_be_refused(observed: Any) -> None:
    for finding in observed["findings"]:
        assert finding["advice"] is None
        assert "assay try" not in (finding["to_try"] or "")


def test_what_was_not_measured_is_said(observed: Any) -> None:
    text = " ".join(printed(observed).split())
    assert "not measured: statements of others: why" in text
    assert "not measured: percentiles" in text
    assert "200 looks" in text
    assert "of a core here" in text


def test_lines_fit_and_end_with_the_next_command(observed: Any) -> None:
    lines = printed(observed).rstrip().splitlines()
    assert f"assay explain {observed['run']} --operation commit" in lines[-1]
    assert "update-accounts" in "\n".join(lines)
    whole = printed(observed, everything=True)
    assert "of which the server counted" in " ".join(whole.split())


def test_it_is_explained_whole_and_by_statement(observed: Any) -> None:
    whole = "\n".join(run_lines(observed, "none", WIDTH, tried={}))
    assert "of the time that sessions spent on statements" in whole
    one = "\n".join(operation_lines(observed, "commit", "none", WIDTH))
    assert "mean of 4,000 calls" in one or "mean of 4 k calls" in one
    assert "Commit and log" in one


def test_it_is_one_line_among_runs(observed: Any) -> None:
    assert "Statements of others on PostgreSQL 18.1" in run_line(observed)
    assert "statements" in run_line(observed)


def test_the_page_is_written(run: Run) -> None:
    made = build(run.dir)
    page = Path(made["report"]).read_text(encoding="utf-8")
    assert "Assay sent no load and observed the statements of other clients." in page
    assert "statements of others: why" in page


def test_it_is_exported(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["export", str(run.dir), "--out", str(tmp_path / "out"), "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert any(file.endswith("operations.csv") for file in files)


@pytest.mark.parametrize(
    "command",
    [
        ["try", "RUN", "missing-index:select-orders"],
        ["whatif", "RUN"],
        ["size", "RUN", "--scale", "10", "--nodes", "2"],
        ["explain", "RUN", "--against", "RUN"],
    ],
    ids=lambda command: command[0],
)
def test_what_needs_executions_refuses_it(
    run: Run, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(run.dir) if word == "RUN" else word for word in command]
    assert run_command(words) == 1
    assert "an observation of a running server, without timed executions" in capsys.readouterr().err


def test_latest_passes_over_it_where_a_run_is_needed(run: Run) -> None:
    with pytest.raises(RecordUnreadableError):
        find_workload_run("latest", run.dir.parent)
    assert find_workload_run("latest", run.dir.parent, or_observed=True).id == run.id


def test_without_counters_it_is_by_looks(tmp_path: Path) -> None:
    run = write_observed(tmp_path, source=None)
    (run.dir / "raw" / "statement-counts.arrows").unlink()
    from assay.probes.streams import STATEMENT_COUNTS, Stream

    Stream(run.dir / "raw", "statement-counts", STATEMENT_COUNTS).close()
    observed = document(Run(run.dir), run.dir)
    assert [operation["name"] for operation in observed["operations"]] == [
        "commit",
        "update-accounts",
    ]
    assert observed["operations"][0]["seconds"] is None
    assert observed["operations"][0]["share"] == pytest.approx(2 / 3, abs=0.01)
    assert "looks alone" in printed(observed)


def test_statements_of_assay_alone_are_not_those_of_others(tmp_path: Path) -> None:
    run = write_observed(tmp_path)
    facts = json.loads((run.dir / "run.json").read_text())
    facts["observed"] |= {"names": {}}
    (run.dir / "run.json").write_text(json.dumps(facts))
    observed = document(Run(run.dir), run.dir)
    assert observed["operations"] == []
    assert "no statement was measured" in printed(observed)


def test_one_that_was_killed_is_told_as_far_as_it_came(tmp_path: Path) -> None:
    run = write_observed(tmp_path)
    facts = json.loads((run.dir / "run.json").read_text())
    facts["observed"] |= {"ended_ns": None, "names": {}}
    (run.dir / "SEAL").unlink()
    (run.dir / "run.json").write_text(json.dumps(facts | {"status": "running"}))
    observed = document(Run(run.dir), run.dir)
    assert [operation["name"] for operation in observed["operations"]] == [COMMIT, UPDATE, SCAN]
    assert observed["verdict"] == "unknown"


def test_one_that_ended_before_it_looked_has_no_figures(tmp_path: Path) -> None:
    run = write_observed(tmp_path)
    facts = json.loads((run.dir / "run.json").read_text())
    del facts["observed"]
    (run.dir / "SEAL").unlink()
    (run.dir / "run.json").write_text(json.dumps(facts | {"status": "failed", "reason": "gone"}))
    observed = document(Run(run.dir), run.dir)
    assert observed["operations"] == []
    assert observed["verdict"] != "valid"
    assert "gone" in printed(observed)
