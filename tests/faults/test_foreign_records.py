"""Records of somebody else: nothing is written outside of their folder, and nothing waits."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli.main import run_command
from assay.model.errors import RecordDamagedError, RecordUnreadableError
from assay.record.reader import Run
from tests.records import write_run

UNREADABLE, DAMAGED = RecordUnreadableError.exit_code, RecordDamagedError.exit_code
KEPT = "a file of the reader"


def replace(path: Path) -> Path:
    path.unlink(missing_ok=True)
    return path


def linked_folder(record: Path, outside: Path) -> None:
    (record / "derived").rmdir()
    (record / "derived").symlink_to(outside.parent)


def linked_file(name: str) -> Callable[[Path, Path], None]:
    def link(record: Path, outside: Path) -> None:
        (record / "derived" / name).symlink_to(outside)

    return link


def piped(name: str) -> Callable[[Path, Path], None]:
    return lambda record, _: os.mkfifo(replace(record / name))


STRANGE = {
    "folder": linked_folder,
    "line": linked_file("line.json"),
    "page": linked_file("report.html"),
    "partial": linked_file("summary.json.partial"),
    "stream": piped("raw/events.arrows"),
    "environment": piped("environment.json"),
    "device": lambda record, _: (record / "raw" / "x").symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("command", ["show", "report"])
@pytest.mark.parametrize("kind", STRANGE)
def test_a_link_or_a_pipe_is_one_message_and_nothing_is_written(
    kind: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path / "outside" / "file"
    outside.parent.mkdir()
    outside.write_text(KEPT)
    record = write_run(tmp_path / "runs")
    STRANGE[kind](record, outside)
    # Asked first: without the refusal, a command would read the pipe for ever.
    with pytest.raises(RecordUnreadableError, match="a link, a pipe or a device"):
        Run(record)
    # A pipe in place of a sealed file is damage, too.
    assert run_command([command, str(record)]) in (UNREADABLE, DAMAGED)
    errors = capsys.readouterr().err
    assert "a link, a pipe or a device" in errors or "is not as it was sealed" in errors
    assert [path.name for path in outside.parent.iterdir()] == [outside.name]
    assert outside.read_text() == KEPT


@pytest.mark.parametrize("name", ["line.json", "made_from.json", "summary.json"])
def test_a_list_of_runs_waits_for_no_pipe(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = write_run(tmp_path / "runs")
    os.mkfifo(record / "derived" / name)
    assert run_command(["runs", "--runs", str(tmp_path / "runs")]) in (0, 1, 3)
    assert "Traceback" not in capsys.readouterr().err
