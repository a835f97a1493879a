"""A full disk and too few open files, in each place that a command writes: one message, no harm."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from tests.e2e.conftest import Lab, copy_run

FILLED = 'mount -t tmpfs -o size=8m none "$0" && cp -r "$RECORD" "$0/run"; cat /dev/zero >"$0/fill"'
# The namespace's disk goes with its processes: what is on it is copied before that.
SCRIPT = f'{FILLED} 2>/dev/null; "$@"; code=$?; rm "$0/fill"; cp -r "$0/." "$KEPT"; exit $code'


@pytest.fixture
def record(lab, null_run) -> Path:
    return copy_run(lab, null_run[1])


@pytest.fixture
def full(lab, record, tmp_path) -> Path:
    """Where a full disk is for a command, with a copy of the record on it."""
    place = tmp_path / "full"
    place.mkdir()
    lab.extra_env |= {"RECORD": str(record), "KEPT": str(tmp_path / "kept")}
    return place


def on_full_disk(lab: Lab, place: Path, *arguments: str) -> tuple[int, str, str]:
    prefix = ("unshare", "--mount", "--map-root-user", "sh", "-c", SCRIPT, str(place))
    ended = lab.assay(*arguments, prefix=prefix)
    assert "Traceback" not in ended.stderr
    return ended.returncode, ended.stdout, ended.stderr


def same_files(place: Path, record: Path) -> bool:
    """Whether a record has the raw files of another, byte for byte."""
    files = [path for path in (record / "raw").rglob("*") if path.is_file()]
    return all(
        (place / path.relative_to(record)).read_bytes() == path.read_bytes() for path in files
    )


def test_results_are_shown_and_the_report_is_not_stored(lab, record, full, tmp_path):
    shutil.rmtree(record / "derived")
    code, shown, errors = on_full_disk(lab, full, "show", str(full / "run"))
    assert code == 0, errors
    assert "TPC-H SF 0.01" in shown
    assert "No space left" in errors
    assert same_files(tmp_path / "kept" / "run", record)


def test_a_report_that_cannot_be_written_is_an_error(lab, record, full, tmp_path):
    shutil.rmtree(record / "derived")
    code, _, errors = on_full_disk(lab, full, "report", str(full / "run"))
    assert code != 0
    assert "No space left" in errors
    assert same_files(tmp_path / "kept" / "run", record)


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_an_export_that_has_no_room_is_an_error_and_leaves_nothing(
    lab, record, full, tmp_path, form
):
    arguments = ("export", str(full / "run"), "--to", form, "--out", str(full / "tables"))
    code, _, errors = on_full_disk(lab, full, *arguments)
    assert code == 1
    assert "No space left" in errors
    whole = tmp_path / "whole"
    done = lab.assay("export", str(record), "--to", form, "--out", str(whole))
    assert done.returncode == 0, done.stderr
    assert len(list(whole.iterdir())) > 0
    assert not (tmp_path / "kept" / "tables").exists()


def test_answers_that_have_no_room_leave_the_earlier_ones(lab, full, tmp_path):
    folder = tmp_path / "queries"
    folder.mkdir()
    (folder / "numbers.sql").write_text("select * from range(200000)")
    lab.extra_env["RECORD"] = str(folder)
    code, _, errors = on_full_disk(lab, full, "answers", str(full / "run"), "--keep")
    assert code != 0
    assert "No space left" in errors
    files = [path.name for path in (tmp_path / "kept" / "run").rglob("*") if path.is_file()]
    assert files == ["numbers.sql"]


@pytest.mark.parametrize(
    "arguments", [("generate", "tpch", "--scale", "0.1", "--out"), ("studies", "new")]
)
def test_new_files_that_have_no_room_leave_no_directory(lab, full, tmp_path, arguments):
    code, _, errors = on_full_disk(lab, full, *arguments, str(full / "new" / "mine"))
    assert code != 0
    assert "full" in errors or "No space left" in errors
    assert not (tmp_path / "kept" / "new").exists()


@pytest.mark.parametrize("limit", [8, 24, 48])
@pytest.mark.parametrize("command", ["show", "run"])
def test_too_few_open_files_are_one_message(lab, record, command, limit):
    arguments = {
        "show": ("show", str(record)),
        "run": ("run", "tpch", "--engine", "null", "--min-time", "1s"),
    }
    ended = lab.assay(*arguments[command], prefix=("prlimit", f"--nofile={limit}"))
    assert "Traceback" not in ended.stderr
    if ended.returncode != 0:
        assert os.strerror(errno.EMFILE) in ended.stderr
    lab.assert_nothing_left()


@pytest.mark.parametrize(
    ("options", "reason"),
    [("size=1m,ro", "Read-only file system"), ("size=64k", "No space left")],
    ids=["read-only", "full"],
)
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_runs_that_have_no_place_are_refused_before_anything_is_measured(
    lab, tmp_path, options, reason, command
):
    place, left = tmp_path / "runs", tmp_path / "left"
    place.mkdir()
    script = (
        'mount -t tmpfs -o "$0" none "$PLACE"; { cat /dev/zero >"$PLACE/fill"; } 2>/dev/null; '
        '"$@"; code=$?; find "$PLACE" -mindepth 1 >"$LEFT"; exit $code'
    )
    lab.extra_env |= {"PLACE": str(place), "LEFT": str(left)}
    clients = ("--clients", "1,2") if command == "sweep" else ()
    asked = (command, "point-select", "--engine", "null", "--time", "100ms", *clients)
    prefix = ("unshare", "--mount", "--map-root-user", "sh", "-c", script, options)
    ended = lab.assay(*asked, "--runs", str(place), prefix=prefix)
    assert ended.returncode == 1, ended.stderr
    (message,) = ended.stderr.splitlines()
    assert reason in message
    assert "stored" not in message
    names = {Path(path).name for path in left.read_text().splitlines()}
    assert names <= {"fill", "studies"}
