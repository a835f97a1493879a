"""What people see on a terminal, against texts that were read by a person before they were kept.

`ASSAY_WRITE_GOLDEN=1` writes them anew; read the difference before keeping it.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from assay.analysis.findings.judging import TO_SETTLE
from assay.record.reader import Run
from assay.report.document import document
from assay.report.results.runs import unjudged_row
from assay.report.terminal.lists.runs import record_line, run_line
from assay.report.terminal.summary import bar, render
from assay.report.words.findings import short_settle
from tests.records import truncate_run, write_run
from tests.sampled import as_sampled

GOLDEN = Path(__file__).parents[1] / "golden"
RUN = "20261120T101500Z-tpch-duckdb-abc123"


def document_of(directory: Path) -> dict[str, Any]:
    """A document that does not know where its test ran."""
    return document(Run(directory), directory) | {"path": f"runs/{RUN}"}


def rendered(made: dict[str, Any], *, all_operations: bool = False, width: int = 80) -> str:
    out = io.StringIO()
    render(made, all_operations=all_operations, console=Console(file=out, width=width))
    return out.getvalue()


def assert_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("ASSAY_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_a_valid_run(tmp_path: Path) -> None:
    made = document_of(write_run(tmp_path)) | {"report": f"runs/{RUN}/derived/report.html"}
    assert_golden("terminal-valid.txt", rendered(made, all_operations=True))


def test_a_profiled_run(tmp_path: Path) -> None:
    assert_golden("terminal-profiled.txt", rendered(document_of(as_sampled(write_run(tmp_path)))))


def test_waiting_that_matters_comes_before_work(tmp_path: Path) -> None:
    made = document_of(as_sampled(write_run(tmp_path)))
    made["operations"][0]["where"] |= {"cpu_user": 0.5, "disk": 0.4}
    line = next(line for line in rendered(made).splitlines() if "q01" in line)
    assert line.index("disk") < line.index("aggregate")
    assert len(line) <= 80


def test_too_much_without_a_source_is_said_and_is_no_verdict(tmp_path: Path) -> None:
    made = document_of(write_run(tmp_path))
    before = made["verdict"]
    assert "not accounted for" not in rendered(made)
    named = [(f"q0{number}", share) for number, share in enumerate((0.3, 0.2, 0.1, 0.07), 1)]
    made["where"]["uncovered"] = [
        {"operation": name, "share": share, "is_split": True} for name, share in named
    ]
    assert made["verdict"] == before
    said = rendered(made)
    assert "not accounted for: 30 % (q01), 20 % (q02), 10 % (q03), 1 more" in said


def test_too_much_with_two_sources_is_said_and_so_is_what_is_not_split_for_it(
    tmp_path: Path,
) -> None:
    made = document_of(write_run(tmp_path))
    assert "accounted for twice" not in rendered(made)
    made["where"]["overcounted"] = [
        {"operation": "q02", "share": 0.39, "is_split": False},
        {"operation": "q01", "share": 0.19, "is_split": True},
    ]
    said = rendered(made)
    assert "accounted for twice: 39 % (q02, not split), 19 % (q01)" in said


def test_doubts_of_many_operations_are_as_wide_as_all_else(tmp_path: Path) -> None:
    made = document_of(write_run(tmp_path))
    made["where"]["overcounted"] = [
        {"operation": f"q{number}", "share": 1.28, "is_split": False} for number in range(10, 23)
    ]
    # A path is as long as it is.
    lines = [line for line in rendered(made).splitlines() if not line.startswith("Re")]
    assert max(map(len, lines)) <= 80
    said = " ".join(" ".join(lines).split())
    each = ", ".join(f"128 % (q{number}, not split)" for number in (10, 11, 12))
    assert f"accounted for twice: {each}, 10 more" in said
    assert not any(line.endswith(" 128") for line in lines)


def test_a_run_with_a_failed_operation(tmp_path: Path) -> None:
    hostile = "disk full \x1b[2J\x1b]0;owned\x07 [bold]nothing[/bold]"
    made = document_of(write_run(tmp_path, failing="q02", message=hostile))
    assert_golden("terminal-invalid.txt", rendered(made))


def test_a_killed_run_without_samples(tmp_path: Path) -> None:
    made = document_of(truncate_run(write_run(tmp_path, probes=False)))
    assert_golden("terminal-killed.txt", rendered(made))


def test_more_operations_than_are_shown(tmp_path: Path) -> None:
    made = document_of(write_run(tmp_path))
    made["operations"] = made["operations"] * 4
    assert "... 9 more (--all)" in rendered(made)
    assert "more (--all)" not in rendered(made, all_operations=True)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_the_terminal(tmp_path: Path, width: int) -> None:
    made = document_of(write_run(tmp_path, failing="q02"))
    lines = rendered(made, all_operations=True, width=width).splitlines()
    # A path is kept whole, so that it can be copied.
    assert max(len(line) for line in lines if not line.startswith("Record")) <= width


def test_the_verdict_is_a_word_where_there_is_no_colour(tmp_path: Path) -> None:
    text = rendered(document_of(write_run(tmp_path, failing="q02")))
    assert "INVALID" in text
    assert "\x1b" not in text


def test_colour_only_adds_to_the_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = document_of(write_run(tmp_path, failing="q02"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True, color_system="standard")
    render(made, all_operations=False, console=console)
    assert "\x1b[" in out.getvalue()
    import re

    assert re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue()) == rendered(made)


@pytest.mark.parametrize(
    ("share", "drawn"), [(0.0, ""), (1e-9, "▏"), (0.5, "██"), (1.0, "████"), (0.28, "█▏")]
)
def test_bars_are_in_eighths(share: float, drawn: str) -> None:
    assert bar(share, 4) == drawn


def test_a_run_is_listed_in_one_line(tmp_path: Path) -> None:
    document = document_of(write_run(tmp_path))
    line = run_line(document)
    assert "\n" not in line
    assert line.startswith(document["verdict"])
    assert "TPC-H SF 1 on DuckDB 2.0.0" in line
    assert line.endswith(document["run"])


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("complete", "unjudged"),
        ("interrupted", "stopped"),
        ("failed", "failed"),
        ("running", "unended"),
    ],
)
def test_a_run_without_a_report_is_listed_with_what_was_run(
    tmp_path: Path, status: str, state: str
) -> None:
    directory = write_run(tmp_path)
    file = directory / "run.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"status": status}))
    line = record_line(directory)
    assert line.split()[0] == state
    assert "TPC-H SF 1 on DuckDB 2.0.0" in line
    assert line.endswith(directory.name)
    row = unjudged_row(directory)
    assert (row["workload"], row["engine"], row["state"]) == ("tpch", "duckdb", state)


def test_a_judged_run_that_was_stopped_is_called_so(tmp_path: Path) -> None:
    document = document_of(write_run(tmp_path)) | {"status": "interrupted"}
    assert run_line(document).split()[0] == "stopped"


def test_a_damaged_record_is_listed(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{")
    line = record_line(tmp_path)
    assert line.split() == ["damaged", tmp_path.name]


def test_a_second_method_settles_every_suspicion_and_is_not_told() -> None:
    assert short_settle(TO_SETTLE) is None


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (
            "make the index first (missing-index:q1): it is smaller",
            "make the index first (missing-index:q1)",
        ),
        ("measure the statement with a join", "measure the statement with a join"),
        ("write `'a: b'` instead: it is shorter", "write `'a: b'` instead: it is shorter"),
    ],
)
def test_what_settles_a_suspicion_is_told_without_its_reason(text: str, short: str) -> None:
    assert short_settle(text) == short


@pytest.mark.parametrize(("certainty", "is_told"), [("suspected", True), ("seen", False)])
def test_a_run_says_what_would_settle_a_suspected_cause(
    tmp_path: Path, certainty: str, *, is_told: bool
) -> None:
    made = document_of(write_run(tmp_path))
    facts = {"tells": "cause", "certainty": certainty, "settle": "count the rows: there may be few"}
    made["findings"][0] |= facts
    text = rendered(made)
    assert ("To settle it: count the rows\n" in text) is is_told
