"""Data sets are kept as long as there is room, and those that were used longest ago go first."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections import namedtuple
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli.main import run_command
from assay.model.errors import UsageError
from assay.running.data.dataset_lock import lock_file, locked
from assay.running.data.datasets import DatasetCache, DatasetKey
from assay.running.data.kept_datasets import KeptDataset, kept_datasets, limit_bytes
from assay.verbs.preparing.cache import prune

KIB = 1024
SCALES = (1.0, 2.0, 3.0)
KEYS = [DatasetKey("tpch", "c0ffee", scale, "duckdb", "2.0.0") for scale in SCALES]
NAMES = [key.name for key in KEYS]
Disk = namedtuple("Disk", ["total", "used", "free"])


def make(place: Path) -> dict[str, Any]:
    (place / "main.db").write_bytes(os.urandom(100 * KIB))
    return {"tables": {}}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ASSAY_CACHE_KEEP", raising=False)
    return tmp_path / "cache" / "assay" / "datasets"


@pytest.fixture
def filled(root: Path, tmp_path: Path) -> Path:
    """Three data sets, of which the first was used last."""
    for number, key in enumerate([*KEYS, KEYS[0]]):
        DatasetCache(root).copy_to(key, tmp_path / str(number), make)
    for name, age_s in zip(NAMES, (10, 3000, 2000), strict=True):
        manifest = root / name / "manifest.json"
        used_s = manifest.stat().st_mtime - age_s
        os.utime(manifest, (used_s, used_s))
    return root


def names(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


class TestUse:
    def test_each_has_its_size_and_last_use(self, filled: Path) -> None:
        kept = kept_datasets(filled)
        assert [dataset.name for dataset in kept] == [NAMES[1], NAMES[2], NAMES[0]]
        assert all(100 * KIB <= dataset.bytes < 150 * KIB for dataset in kept)

    def test_a_copy_is_a_use(self, filled: Path, tmp_path: Path) -> None:
        DatasetCache(filled).copy_to(KEYS[1], tmp_path / "again", make)
        assert kept_datasets(filled)[-1].name == NAMES[1]

    def test_there_is_none_yet(self, root: Path) -> None:
        assert kept_datasets(root) == []


class TestLimit:
    def test_what_was_used_longest_ago_goes_when_one_is_made(
        self, filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ASSAY_CACHE_KEEP", "350k")
        removed: list[KeptDataset] = []
        key = replace(KEYS[0], scale=4.0)
        cache = DatasetCache(filled, removed=removed.append)
        cache.copy_to(key, tmp_path / "run", make)
        assert [dataset.name for dataset in removed] == [NAMES[1]]
        assert names(filled) == sorted([NAMES[0], NAMES[2], key.name])

    def test_the_one_that_is_made_stays_though_it_is_larger(
        self, filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ASSAY_CACHE_KEEP", "1k")
        key = replace(KEYS[0], scale=4.0)
        DatasetCache(filled).copy_to(key, tmp_path / "run", make)
        assert names(filled) == [key.name]

    def test_a_use_removes_nothing(
        self, filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ASSAY_CACHE_KEEP", "1k")
        DatasetCache(filled).copy_to(KEYS[0], tmp_path / "run", make)
        assert names(filled) == sorted(NAMES)

    def test_it_is_half_of_what_would_be_free_without_them(
        self, filled: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kept_bytes = sum(dataset.bytes for dataset in kept_datasets(filled))
        monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(9e9, 1e9, 7_000_000))
        assert limit_bytes(filled) == (7_000_000 + kept_bytes) // 2

    def test_what_is_no_size_is_refused_before_anything_is_made(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ASSAY_CACHE_KEEP", "much")
        with pytest.raises(UsageError, match="ASSAY_CACHE_KEEP much: write a size, such as 20GB"):
            DatasetCache(root)


class TestLocks:
    def test_no_lock_is_left_by_a_use(self, root: Path, tmp_path: Path) -> None:
        DatasetCache(root).copy_to(KEYS[0], tmp_path / "run", make)
        assert names(root) == [NAMES[0]]

    def test_what_killed_processes_left_goes_with_the_next_sweep(self, filled: Path) -> None:
        (filled / "any-1-duckdb-0.partial" / "data").mkdir(parents=True)
        (filled / ".any-1-duckdb-0.lock").touch()
        lock_file(filled, NAMES[1]).touch()
        DatasetCache(filled).sweep()
        assert names(filled) == sorted(NAMES)

    def test_what_is_held_stays(self, filled: Path) -> None:
        (filled / "any-1-duckdb-0.partial").mkdir()
        with locked(filled, "any-1-duckdb-0", lambda: None):
            DatasetCache(filled).sweep()
            assert names(filled) == sorted(
                [".any-1-duckdb-0.lock", "any-1-duckdb-0.partial", *NAMES]
            )

    def test_a_lock_whose_file_was_removed_is_taken_anew(self, filled: Path) -> None:
        file = lock_file(filled, NAMES[0])
        before = os.open(file, os.O_RDWR | os.O_CREAT)
        fcntl.flock(before, fcntl.LOCK_EX)

        def give_back() -> None:
            file.unlink()
            os.close(before)

        with (
            locked(filled, NAMES[0], give_back),
            file.open() as again,
            pytest.raises(BlockingIOError),
        ):
            fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert not file.exists()


class TestPrune:
    def test_as_many_go_as_have_to(self, filled: Path) -> None:
        pruned = prune("220k")
        assert [dataset.name for dataset in pruned.removed] == [NAMES[1]]
        assert [dataset.name for dataset in pruned.datasets] == [NAMES[2], NAMES[0]]
        assert names(filled) == sorted([NAMES[0], NAMES[2]])

    def test_one_that_a_run_uses_stays(self, filled: Path) -> None:
        with locked(filled, NAMES[1], lambda: None):
            pruned = prune(0)
        assert {dataset.name for dataset in pruned.removed} == {NAMES[0], NAMES[2]}
        assert names(filled) == [NAMES[1]]

    def test_what_cannot_be_removed_stays(
        self, filled: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def refused(*_: object, **__: object) -> None:
            raise PermissionError("not yours")

        monkeypatch.setattr(Path, "rename", refused)
        assert prune(0).removed == ()
        assert names(filled) == sorted(NAMES)
        assert "cannot be removed: not yours" in caplog.text

    def test_of_nothing_nothing_goes(self, root: Path) -> None:
        assert prune().datasets == ()
        assert not root.exists()


class TestCommand:
    def test_data_sets_are_listed_with_their_sum(
        self, filled: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run_command(["cache"]) == 0
        *lines, total = capsys.readouterr().out.splitlines()
        assert [line.split()[-1] for line in lines] == [NAMES[1], NAMES[2], NAMES[0]]
        assert "used 50 min" in lines[0]
        assert "in 3 data sets, of " in total
        assert total.endswith(str(filled))

    def test_the_document_is_that_of_the_function(
        self, filled: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run_command(["cache", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        told = assay.cache().document
        assert document["datasets"] == told["datasets"]
        assert document["bytes"] == sum(dataset["bytes"] for dataset in told["datasets"])
        assert document["directory"] == str(filled)

    def test_what_was_removed_is_told(
        self, filled: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (filled / ".any-1-duckdb-0.lock").touch()
        assert run_command(["cache", "prune", "--keep", "0"]) == 0
        *removed, lock, total = capsys.readouterr().out.splitlines()
        assert [line.split()[-1] for line in removed] == [NAMES[1], NAMES[2], NAMES[0]]
        assert lock == "removed, left by a killed process: .any-1-duckdb-0.lock"
        assert total.startswith("0 B in 0 data sets")

    def test_a_wrong_size_is_an_error(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        del root
        assert run_command(["cache", "prune", "--keep", "all"]) == 1
        assert "--keep all: write a size, such as 20GB" in capsys.readouterr().err
