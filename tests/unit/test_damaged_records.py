"""Every command that opens a damaged record says so in a sentence, and ends with exit code 3."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import assay
from assay.cli.main import run_command
from assay.record.ceilings import newest_ceiling
from assay.record.damage import DamagedRecordWarning
from assay.record.earlier import earlier_run
from assay.record.layout import PLANS_DIR, PLANS_FILE, RAW_DIR
from assay.record.reader import Run
from assay.record.seal import write_seal
from assay.record.studies import write_study
from assay.record.writer import write_json
from assay.report.build import build
from assay.study.several import begun_in, lost_records
from tests.records import write_run
from tests.studies import MadeStudy, figure

OTHER_ID = "20261119T101500Z-tpch-duckdb-000001"
SENTENCES = ("is not as it was sealed", "The record is damaged")


def flip_a_bit(directory: Path) -> None:
    """As a failing disk does: the file's size and time stay as they are."""
    file = directory / "raw" / "events.arrows"
    about, held = file.stat(), bytearray(file.read_bytes())
    held[len(held) // 2] ^= 1
    file.write_bytes(held)
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))


def cut(directory: Path) -> None:
    file = directory / "raw" / "events.arrows"
    file.write_bytes(file.read_bytes()[:-300])


def remove(directory: Path) -> None:
    (directory / "raw" / "tasks.arrows").unlink()


def empty(directory: Path) -> None:
    (directory / "run.json").write_text("", encoding="utf-8")


KINDS = (flip_a_bit, cut, remove, empty)
COMMANDS = (
    "show RUN",
    "report RUN",
    "export RUN",
    "explain RUN",
    "explain OTHER --against RUN",
    "whatif RUN",
    "size RUN --scale 10 --nodes 2",
    "try RUN 1",
    # The budget has no room for a run: a damaged record is reported before the first one.
    "diagnose RUN --budget 1s",
)
# On a whole record of made-up times these find nothing to do.
ENDS_OTHERWISE = ("size", "try", "diagnose")


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "runs", run_id=OTHER_ID)
    return write_run(tmp_path / "runs")


def called(command: str, record: Path) -> int:
    names = {"RUN": record.name, "OTHER": OTHER_ID}
    return run_command([*(names.get(word, word) for word in command.split()), "--json"])


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("damage", KINDS)
def test_damage_is_one_sentence_and_exit_code_3(
    damage: Callable[[Path], None],
    command: str,
    record: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    build(record, with_page=False)
    damage(record)
    assert called(command, record) == 3
    told = capsys.readouterr()
    assert sum(told.err.count(words) for words in SENTENCES) == 1, told.err
    assert "Traceback" not in told.err
    assert json.loads(told.out)
    assert not (record.parent / "studies").exists()


@pytest.mark.parametrize("command", ["show", "export"])
def test_damaged_plans_are_one_sentence_too(command: str, record: Path) -> None:
    """Several parts of a command read the plans, and each warns that it cannot."""
    plans = record / RAW_DIR / PLANS_DIR / PLANS_FILE
    plans.parent.mkdir()
    write_json(plans, {})
    write_seal(record)
    plans.write_text("", encoding="utf-8")
    # In a process of its own, because pytest itself receives the warnings of this one.
    program = "from assay.cli.main import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", program, command, record.name],
        capture_output=True,
        text=True,
        check=False,
    )
    (line,) = ended.stderr.splitlines()
    assert SENTENCES[0] in line
    assert ended.returncode == 3


@pytest.mark.parametrize("command", COMMANDS)
def test_a_whole_record_is_not_called_damaged(
    command: str, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = called(command, record)
    assert code == 0 or command.startswith(ENDS_OTHERWISE)
    told = capsys.readouterr()
    assert not any(words in told.err for words in SENTENCES)


def test_a_record_without_a_seal_whose_facts_are_lost_ends_with_3(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (record / "SEAL").unlink()
    empty(record)
    assert called("show RUN", record) == 3
    assert "The record is damaged" in capsys.readouterr().err


@pytest.mark.parametrize("damage", KINDS[:-1])
def test_python_hears_a_warning(damage: Callable[[Path], None], record: Path) -> None:
    damage(record)
    with pytest.warns(DamagedRecordWarning, match="is not as it was sealed"):
        assay.load(record.name)


@pytest.mark.parametrize("damage", KINDS)
def test_a_study_makes_a_damaged_run_anew_and_says_why(
    damage: Callable[[Path], None], record: Path
) -> None:
    study = record.parent / "studies" / "one"
    begun = {"part": "p", "variant": "v", "round": 1, "status": "complete", "id": record.name}
    study.mkdir(parents=True)
    write_study(study, {"schema": 2, "question": "?", "seed": 1, "runs": [begun]})
    assert [run.status for run in begun_in(study)] == ["complete"]
    assert lost_records(study) == []
    damage(record)
    assert [run.status for run in begun_in(study)] == ["failed"]
    (reason,) = lost_records(study)
    assert any(words in reason for words in SENTENCES)


@pytest.mark.parametrize("verb", ["show", "report"])
def test_a_study_says_which_of_its_runs_is_damaged(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = MadeStudy(tmp_path)
    studied = made.add("threads", {"set.threads": "1"}, write_run(tmp_path / "made"))
    study = made.write([figure("operations", "threads")])
    assert run_command([verb, study.name, "--runs", str(tmp_path), "--json"]) == 0
    capsys.readouterr()
    flip_a_bit(studied.run.dir)
    assert run_command([verb, study.name, "--runs", str(tmp_path), "--json"]) == 3
    told = capsys.readouterr()
    assert told.err.count(f"the record {studied.run.id} is not as it was sealed") == 1
    assert json.loads(told.out)


@pytest.mark.parametrize("damage", KINDS)
def test_figures_of_a_damaged_record_are_compared_with_none(
    damage: Callable[[Path], None], record: Path
) -> None:
    later = Run(write_run(record.parent, run_id="20261121T101500Z-tpch-duckdb-000002"))
    assert (found := earlier_run(later, record.parent)) is not None
    assert found.id == record.name
    damage(record)
    assert (found := earlier_run(later, record.parent)) is not None
    assert found.id == OTHER_ID


def test_a_damaged_ceiling_is_passed_over(tmp_path: Path) -> None:
    ceiling = tmp_path / "20261120T101500Z-ceiling-abc123"
    (ceiling / "raw").mkdir(parents=True)
    facts = {"schema": 1, "id": ceiling.name, "status": "complete", "kind": "ceiling"}
    write_json(ceiling / "run.json", facts)
    (ceiling / "raw" / "trials.csv").write_text("1")
    write_seal(ceiling)
    assert newest_ceiling(tmp_path) == ceiling
    (ceiling / "raw" / "trials.csv").write_text("2")
    assert newest_ceiling(tmp_path) is None


def test_a_record_without_facts_is_listed_without_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = write_run(tmp_path)
    build(directory)
    (directory / "run.json").write_text("", encoding="utf-8")
    assert run_command(["runs", "--runs", str(directory.parent), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["state"] == "damaged"
    assert "operations" not in row
