"""After the seal nothing that was measured changes without being named."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.record.reader import Run
from assay.record.seal import broken_seals, file_sha256, write_seal
from tests.conftest import SyntheticRun

# FIPS 180-4's example, a text of three letters.
SHA256_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
SHA256SUM = shutil.which("sha256sum")


@pytest.fixture
def run(synthetic: SyntheticRun) -> Run:
    return synthetic.write()


def sha256sum(run_dir: Path) -> subprocess.CompletedProcess[str]:
    assert SHA256SUM is not None, "the outside oracle, of coreutils, is not installed"
    command = [SHA256SUM, "--check", "--strict", "SEAL"]
    return subprocess.run(command, cwd=run_dir, capture_output=True, text=True, check=False)


def changed(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b" ")


SEALED = [
    "run.json",
    "environment.json",
    "raw/events.arrows",
    "raw/driver.json",
    "raw/results/expected/a.csv",
]


def test_a_digest_is_sha_256(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    assert file_sha256(tmp_path / "abc") == SHA256_OF_ABC


def test_what_was_just_sealed_is_whole(run: Run) -> None:
    assert broken_seals(run.dir) == []


@pytest.mark.parametrize("name", SEALED)
def test_a_changed_file_is_named(run: Run, name: str) -> None:
    changed(run.dir / name)
    assert broken_seals(run.dir) == [f"{name} was changed after the seal"]


@pytest.mark.parametrize("name", SEALED)
def test_a_missing_file_is_named(run: Run, name: str) -> None:
    (run.dir / name).unlink()
    assert broken_seals(run.dir) == [f"{name} is missing"]


@pytest.mark.parametrize("name", ["raw/more.arrows", "raw/results/c-1.arrow", "raw/deep/er/file"])
def test_an_added_file_is_named(run: Run, name: str) -> None:
    (run.dir / name).parent.mkdir(parents=True, exist_ok=True)
    (run.dir / name).write_text("", encoding="utf-8")
    assert broken_seals(run.dir) == [f"{name} was added after the seal"]


def test_everything_that_is_wrong_is_named(run: Run) -> None:
    changed(run.dir / "run.json")
    (run.dir / "environment.json").unlink()
    (run.dir / "raw" / "new").write_text("", encoding="utf-8")
    assert len(broken_seals(run.dir)) == 3


def test_what_is_derived_may_be_deleted_and_made_anew(run: Run) -> None:
    shutil.rmtree(run.dir / "derived")
    (run.dir / "derived").mkdir()
    (run.dir / "derived" / "report.html").write_text("", encoding="utf-8")
    assert broken_seals(run.dir) == []


def test_a_damaged_seal_names_what_it_no_longer_covers(run: Run) -> None:
    (run.dir / "SEAL").write_bytes(b"\xff\x00 rubbish")
    assert "run.json was added after the seal" in broken_seals(run.dir)


@pytest.mark.parametrize("line", ["{}", "", "0" * 64 + "  ", "0" * 63 + "  run.json", "x" * 70])
def test_a_line_that_is_no_checksum_is_named_by_its_number(run: Run, line: str) -> None:
    seal = run.dir / "SEAL"
    before = seal.read_text(encoding="utf-8")
    seal.write_text(f"{before}{line}\n", encoding="utf-8")
    number = len(before.splitlines()) + 1
    assert broken_seals(run.dir) == [f"SEAL is damaged in line {number}"]
    seal.write_text(f"{line}\n", encoding="utf-8")
    first, *others = broken_seals(run.dir)
    assert first == "SEAL is damaged in line 1"
    assert "run.json was added after the seal" in others


def test_an_empty_seal_covers_nothing(run: Run) -> None:
    (run.dir / "SEAL").write_bytes(b"")
    assert len(broken_seals(run.dir)) >= len(SEALED)


def test_a_run_without_environment_can_be_sealed(synthetic: SyntheticRun) -> None:
    synthetic.sealed = False
    run = synthetic.write()
    (run.dir / "environment.json").unlink()
    write_seal(run.dir)
    assert broken_seals(run.dir) == []


class TestAgainstSha256sum:
    """`sha256sum -c SEAL` is the oracle from outside: anyone can check a seal without us."""

    def test_it_agrees_that_the_seal_holds(self, run: Run) -> None:
        result = sha256sum(run.dir)
        assert (result.returncode, result.stderr) == (0, "")
        assert len(result.stdout.splitlines()) == len((run.dir / "SEAL").read_text().splitlines())

    @pytest.mark.parametrize("name", SEALED)
    @pytest.mark.parametrize("harm", [changed, Path.unlink], ids=["changed", "missing"])
    def test_it_agrees_on_what_broke(
        self, run: Run, name: str, harm: Callable[[Path], None]
    ) -> None:
        harm(run.dir / name)
        result = sha256sum(run.dir)
        assert result.returncode != 0
        bad = [line.partition(":")[0] for line in result.stdout.splitlines() if "FAILED" in line]
        assert bad == [name]
        assert [sentence.split(" ")[0] for sentence in broken_seals(run.dir)] == bad
