"""Results go to streams that are full, closed, read in part, or of few letters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from assay.cli.shared.output import folded

ASSAY = str(Path(sys.executable).parent / "assay")


def shell(command: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("assay", ASSAY, 1)],
        env=os.environ | env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_full_disk_is_one_sentence_and_a_failure() -> None:
    ended = shell("assay engines > /dev/full")
    assert ended.returncode == 2
    assert ended.stderr == "assay: the result could not be written: No space left on device\n"


def test_who_reads_the_beginning_only_is_no_failure() -> None:
    ended = shell("assay engines --json | head -n 1")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "[\n", "")


def test_letters_that_the_terminal_lacks_are_written_as_codes() -> None:
    ended = shell("assay workloads show bsbm", PYTHONIOENCODING="ascii")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.isascii()


def test_a_document_is_json_in_every_encoding() -> None:
    documents = [
        json.loads(shell("assay workloads --json", PYTHONIOENCODING=name).stdout)
        for name in ("ascii", "utf-8")
    ]
    assert documents[0] == documents[1]


def test_closed_streams_are_no_failure_and_no_file_takes_their_place(tmp_path: Path) -> None:
    ended = shell(f"assay workloads new {tmp_path}/own >&- 2>&-")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    written = "".join(path.read_text("utf-8") for path in (tmp_path / "own").rglob("*.*"))
    assert "select" in written


def test_a_message_of_several_lines_is_one_line_without_its_pointer() -> None:
    message = 'error at "b"\nLINE 1: select 1 frm b\n                     ^\nThe statement: x'
    assert folded(message) == 'error at "b" LINE 1: select 1 frm b The statement: x'
