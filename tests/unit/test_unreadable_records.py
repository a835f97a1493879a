"""A record that this user may not read, or that a newer Assay wrote, is not called damaged."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assay.cli.main import run_command
from assay.model.errors import RecordDeniedError, RecordPathError, RecordUnreadableError
from assay.record.reader import Run, find_run, list_runs
from assay.record.seal import write_seal
from assay.record.studies import write_study
from assay.record.writer import ensure_runs_dir
from assay.report.build import build
from tests.permissions import forbidden
from tests.records import write_run

OTHER_ID = "20261119T101500Z-tpch-duckdb-000001"
READING = (
    "show RUN",
    "report RUN",
    "export RUN",
    "explain RUN",
    "whatif RUN",
    "explain OTHER --against RUN",
)
DENIED = "cannot be read: Permission denied"


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_RUNS", str(tmp_path / "runs"))
    build(write_run(tmp_path / "runs", run_id=OTHER_ID), with_page=False)
    made = write_run(tmp_path / "runs")
    build(made, with_page=False)
    return made


def message_of(command: str, record: Path, capsys: pytest.CaptureFixture[str], code: int) -> str:
    """Return the only message of a command that ends with a code."""
    names = {"RUN": str(record), "OTHER": OTHER_ID}
    capsys.readouterr()
    ended = run_command([names.get(word, word) for word in command.split()])
    (message,) = capsys.readouterr().err.splitlines()
    assert ended == code, message
    return message


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize(
    ("name", "mode"),
    [
        (".", 0),
        (".", 0o600),
        ("raw", 0),
        ("raw", 0o600),
        ("raw/events.arrows", 0),
        ("run.json", 0),
        ("environment.json", 0),
        ("SEAL", 0),
        ("derived", 0),
    ],
)
def test_what_may_not_be_read_is_named(
    name: str, mode: int, command: str, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with forbidden(record / name, mode):
        message = message_of(command, record, capsys, 1)
    assert message.startswith(f"assay: {(record / name)}")
    assert DENIED in message


@pytest.mark.parametrize("mode", [0, 0o600])
def test_an_unreadable_directory_of_runs_is_named(
    mode: int, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with forbidden(record.parent, mode):
        assert DENIED in message_of("show latest", record, capsys, 1)
        assert DENIED in message_of(f"show {record}", record, capsys, 1)
        assert DENIED in message_of(f"report {record.parent}/studies/x", record, capsys, 1)
    with forbidden(record.parent):
        assert DENIED in message_of("runs", record, capsys, 1)


def test_a_report_that_may_not_be_read_is_made_again(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with forbidden(record / "derived" / "summary.json"):
        assert run_command(["show", str(record)]) == 0
    assert "Permission" not in capsys.readouterr().err


@pytest.mark.parametrize("name", [".", "run.json", "raw"])
def test_an_unreadable_run_is_listed_with_the_others(
    name: str, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (record.parent / "lost+found").mkdir()
    with forbidden(record.parent / "lost+found"), forbidden(record / name):
        assert run_command(["runs", "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert run_command(["runs"]) == 0
    assert [row["run"] for row in rows] == [OTHER_ID, record.name]
    assert rows[0]["verdict"] is not None
    assert (rows[1]["state"], rows[1]["verdict"]) == ("unreadable", None)
    other, line = capsys.readouterr().out.splitlines()
    assert line.startswith("unreadable ")
    assert line.index(record.name) == other.index(OTHER_ID)


def test_a_run_is_found_from_a_directory_that_may_not_be_searched(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    with forbidden(tmp_path / "home"):
        assert find_run(record.name, record.parent) == record
        with pytest.raises(RecordDeniedError, match=DENIED):
            find_run(f"./{record.name}", record.parent)


@pytest.mark.parametrize("command", ["show", "report", "export", "explain", "whatif"])
def test_a_path_that_is_not_utf_8_is_to_be_renamed(
    command: str, record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = record.rename(tmp_path / os.fsdecode(b"\xff\xfe"))
    message = message_of(f"{command} {moved} --json", record, capsys, 1)
    assert "has to be UTF-8: rename" in message
    assert "\\udcff" in message


def test_a_list_has_runs_whose_paths_are_not_utf_8(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record.rename(record.parent / os.fsdecode(b"\xff"))
    assert run_command(["runs"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("unreadable ")
    assert run_command(["runs", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["run"], row.get("state")) for row in rows] == [
        (OTHER_ID, None),
        ("\\udcff", "unreadable"),
    ]


def test_a_study_whose_path_is_not_utf_8_is_to_be_renamed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / os.fsdecode(b"\xff")
    write_study(study, {"schema": 2, "question": "?", "seed": 1})
    for command in ("show", "report"):
        assert "has to be UTF-8" in message_of(f"{command} {study} --json", study, capsys, 1)


def test_no_run_is_recorded_below_a_path_that_is_not_utf_8(tmp_path: Path) -> None:
    place = tmp_path / os.fsdecode(b"\xff")
    with pytest.raises(RecordPathError, match="has to be UTF-8"):
        ensure_runs_dir(place)
    assert not place.exists()


def test_a_newer_record_is_listed_as_newer(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = json.loads((record / "run.json").read_text("utf-8"))
    (record / "run.json").write_text(json.dumps(facts | {"schema": 99}), "utf-8")
    write_seal(record)
    assert "use a newer Assay" in message_of("show RUN", record, capsys, 1)
    assert run_command(["runs", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)[-1]
    assert (row["run"], row["state"], row["verdict"]) == (record.name, "newer", None)
    assert run_command(["runs"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("newer    ")


@pytest.mark.parametrize("name", ["RUN", "latest", "abc123"])
def test_a_record_without_its_facts_is_damaged(
    name: str, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (record / "run.json").unlink()
    for command in ("show", "report", "export", "explain", "whatif"):
        message = message_of(f"{command} {name}", record, capsys, 3)
        assert "run.json is missing" in message
    assert run_command(["runs", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)[-1]
    assert (row["run"], row["state"]) == (record.name, "damaged")


def test_a_directory_with_a_seal_alone_is_no_record(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "SEAL").touch()
    (tmp_path / "loop").symlink_to("loop")
    assert list_runs(tmp_path) == []
    with pytest.raises(RecordUnreadableError, match="not a run directory"):
        Run(tmp_path / "other")
