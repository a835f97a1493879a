"""A command that Assay suggests can be copied into a shell: names in it are quoted and complete."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import typer

from assay.cli.main import run_command
from assay.cli.shared.executing import executed
from assay.cli.shared.output import console
from assay.cli.shared.progress import Progress
from assay.cli.shared.watching import Watching
from assay.record.studies import STUDY_FILE

BLANK = "it's my place"


def arguments(text: str, command: str) -> list[str]:
    """Return the arguments of a command in a text, as a shell would read them."""
    (line,) = [line for line in text.splitlines() if command in line]
    return shlex.split(line.partition(command)[2])


def stopped_study(place: Path) -> None:
    (place / STUDY_FILE).write_text("{}", "utf-8")
    with suppress(KeyboardInterrupt), Watching().making(place, one_part=True) as progress:
        progress.record(place)
        raise KeyboardInterrupt


def stopped_run(place: Path) -> None:
    def make(progress: Progress) -> None:
        (place / "run.json").touch()
        progress.record(place)
        raise KeyboardInterrupt

    with pytest.raises(typer.Exit):
        executed(make, Progress(console()), as_json=False)


@pytest.mark.parametrize(
    ("stop", "command"),
    [
        (stopped_study, "assay report"),
        (stopped_study, "assay show"),
        (stopped_run, "assay show"),
    ],
)
def test_a_record_is_named_by_its_quoted_path(
    stop: Callable[[Path], None], command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / BLANK
    place.mkdir()
    stop(place)
    assert arguments(capsys.readouterr().err, command) == [str(place)]


@pytest.mark.parametrize(
    ("group", "command", "file"),
    [("workloads", "assay run", ""), ("studies", "assay study", "/study.toml")],
)
def test_a_new_folder_is_quoted(
    group: str,
    command: str,
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command([group, "new", BLANK]) == 0
    assert arguments(capsys.readouterr().out, command) == [f"./{BLANK}{file}"]
