"""Carries out a command in this process, and says what is wrong with how it was refused."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.cli.main import run_command

LINES_MAX = 3
CHARACTERS_MAX = 2_000
USAGE = 1


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        code: Its exit code.
        out, err: What it wrote.
        made: Files that are there and were not before.
    """

    code: int
    out: str
    err: str
    made: tuple[str, ...]

    def faults(self, *, as_json: bool) -> list[str]:
        """Return what is not as it is promised of wrong usage."""
        return [*self._message_faults(), *(self._json_faults() if as_json else ())]

    def _message_faults(self) -> Iterator[str]:
        if self.code != USAGE:
            yield f"exit code {self.code}"
        if "Traceback" in self.err or "defect of Assay" in self.err:
            yield "a traceback"
        if not 1 <= len(self.err.strip().splitlines()) <= LINES_MAX:
            yield f"{len(self.err.splitlines())} lines"
        if len(self.err) > CHARACTERS_MAX:
            yield f"{len(self.err)} characters"
        if not self.err.replace("\n", "").isprintable():
            yield "control characters"
        if self.made:
            yield f"left {self.made}"

    def _json_faults(self) -> Iterator[str]:
        try:
            document = json.loads(self.out)
        except ValueError:
            yield "no JSON document"
            return
        if set(document) != {"error", "exit_code"} or document["exit_code"] != self.code:
            yield f"another document: {sorted(document)}"


def ended(arguments: Sequence[str], place: Path, capsys: pytest.CaptureFixture[str]) -> Ended:
    """Carry out a command line in a folder, which is also where its runs go."""
    before = files_in(place)
    capsys.readouterr()
    code = run_command([argument.replace("{place}", str(place)) for argument in arguments])
    told = capsys.readouterr()
    return Ended(code, told.out, told.err, tuple(sorted(files_in(place) - before))[:3])


def files_in(place: Path) -> set[str]:
    """Return everything in a folder, links not followed."""
    found = (
        Path(folder) / name
        for folder, folders, files in os.walk(place)
        for name in (*folders, *files)
    )
    return {str(path.relative_to(place)) for path in found}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that a command works in, and where its runs go; caches and state are beside it."""
    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ASSAY_RUNS", str(folder / "runs"))
    for variable in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "kept"))
    return folder
