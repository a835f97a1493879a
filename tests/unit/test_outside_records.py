"""No command writes its result into the record of a run or of a study."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.cli.main import run_command
from assay.model.errors import UsageError
from assay.record.outside import refuse_inside_record
from assay.record.writer import ensure_runs_dir
from assay.report.profile_exports import formats
from tests.known_profile import a_source
from tests.records import write_run
from tests.studies import MadeStudy, figure

REFUSED = "lies inside the record of a "


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(formats, "read_source", lambda _, operation: a_source(operation))
    return write_run(tmp_path / "runs")


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of each file below a folder, and nothing for a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


def linked_file(record: Path) -> Path:
    (record.parents[1] / "x.folded").symlink_to(record / "run.json")
    return record.parents[1] / "x.folded"


def linked_folder(record: Path) -> Path:
    (record.parents[1] / "out").symlink_to(record / "raw")
    return record.parents[1] / "out"


@pytest.mark.parametrize("to", ["csv", "json", "parquet", *formats.FORMATS])
@pytest.mark.parametrize(
    "place",
    [
        lambda record: record / "run.json",
        lambda record: record / "raw",
        lambda record: record / "raw" / "deep" / "new.json",
        lambda record: record,
        lambda record: Path(os.path.relpath(record / "raw")),
        linked_file,
        linked_folder,
    ],
    ids=["file", "raw", "new", "record", "relative", "link to file", "link to folder"],
)
def test_an_export_into_a_record_is_refused_and_nothing_is_written(
    record: Path, place, to: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = place(record)
    before = files(record)
    # The record that is exported is another one: any record is protected.
    other = write_run(record.parents[1] / "others")
    assert run_command(["export", str(other), "--to", to, "--out", str(out)]) == 1
    (message,) = capsys.readouterr().err.splitlines()
    assert f"--out {REFUSED}run: {out} is in {record}" in message
    assert files(record) == before


@pytest.mark.parametrize("lost", ["run.json", "SEAL", "raw"])
def test_a_record_that_lost_a_part_is_still_one(record: Path, lost: str) -> None:
    (record / lost).rename(record.parent / "lost")
    with pytest.raises(UsageError, match=REFUSED):
        refuse_inside_record(record / "derived" / "x.csv", "--out")


def test_without_a_place_the_working_directory_is_refused(
    record: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(record / "raw")
    assert run_command(["export", str(record)]) == 1
    assert REFUSED in capsys.readouterr().err


def test_a_study_is_protected_and_its_directory_of_runs_is_not(tmp_path: Path) -> None:
    made = MadeStudy(tmp_path)
    made.add("threads", {"set.threads": "1"}, write_run(tmp_path / "made"))
    study = made.write([figure("operations", "threads")])
    with pytest.raises(UsageError, match=f"{REFUSED}study: .* is in {study}"):
        refuse_inside_record(study / "study.toml", "--out")
    refuse_inside_record(study.parent / "mine.csv", "--out")
    refuse_inside_record(study.parents[1] / "mine", "--out")


def test_a_folder_with_a_study_of_the_user_is_no_record(tmp_path: Path) -> None:
    (tmp_path / "study.toml").touch()
    (tmp_path / "run.json").touch()
    refuse_inside_record(tmp_path / "out", "--out")


@pytest.mark.parametrize(
    "command",
    [
        "generate tpch --scale 0.01 --format csv --out PLACE",
        "capture --log LOG --out PLACE",
        "studies new PLACE",
        "workloads new PLACE",
        "explain RUN --against RUN --html PLACE",
        "ceiling --quick --dir PLACE",
        "run point-select --engine null --time 100ms --warmup 0s --runs PLACE",
        "sweep point-select --engine null --clients 1,2 --time 100ms --runs PLACE",
    ],
)
def test_other_commands_are_refused_there_too(
    record: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = record.parents[1] / "server.log"
    log.touch()
    names = {"PLACE": record / "raw" / "new", "RUN": record, "LOG": log}
    before = files(record)
    assert run_command([str(names.get(word, word)) for word in command.split()]) == 1
    assert REFUSED in capsys.readouterr().err
    assert files(record) == before


def test_runs_lie_in_no_record(record: Path) -> None:
    with pytest.raises(UsageError, match=f"--runs {REFUSED}run"):
        ensure_runs_dir(record / "raw" / "runs")
    assert not (record / "raw" / "runs").exists()
