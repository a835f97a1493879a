"""A record with a flipped bit is called damaged, wherever the bit is, and never shown as whole.

The seal covers every file of the record but itself. A bit of the seal makes the record differ, too.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.main import run_command
from assay.model.errors import AssayError
from assay.record.reader import Run
from tests.records import write_run

FLIPS = 500
# So many of them are also shown, which takes far longer than reading does.
SHOWN = 10
DAMAGED = 3
UNREADABLE = 1


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small record, which every flip leaves as it was."""
    return write_run(tmp_path_factory.mktemp("flipped"))


def flips(record: Path, count: int, seed: int) -> Iterator[Path]:
    """Flip a bit of each file in turn, and flip it back when it has been looked at."""
    chance = random.Random(seed)
    files = sorted(path for path in record.rglob("*") if path.is_file() and path.stat().st_size)
    for number in range(count):
        path = files[number % len(files)]
        whole = path.read_bytes()
        place, bit = chance.randrange(len(whole)), chance.randrange(8)
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        yield path
        path.write_bytes(whole)


def is_told(record: Path) -> bool:
    """Whether reading the record says that it is damaged."""
    try:
        return bool(Run(record).broken_seals())
    except AssayError as error:
        return "damaged" in str(error) or "newer" in str(error)


def test_whatever_bit_is_flipped_the_record_is_told_as_damaged(record: Path) -> None:
    shutil.rmtree(record / "derived", ignore_errors=True)
    untold = [path.name for path in flips(record, FLIPS, seed=1) if not is_told(record)]
    assert untold == []
    assert not is_told(record)


def test_a_damaged_record_is_shown_without_a_traceback(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in flips(record, SHOWN, seed=2):
        shutil.rmtree(record / "derived", ignore_errors=True)
        code = run_command(["show", str(record), "--json"])
        told = capsys.readouterr()
        assert code in (UNREADABLE, DAMAGED), path.name
        assert "Traceback" not in told.err, path.name
        assert json.loads(told.out), path.name
