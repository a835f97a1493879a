"""Loaded data is made once, copied whole, and never half there."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from assay.model.errors import RunFailedError
from assay.running.asked.asking import understood
from assay.running.asked.request import RunRequest
from assay.running.data import datasets
from assay.running.data.datasets import DatasetCache, DatasetKey
from assay.running.server.starting import key_of
from assay.workloads import generate

KEY = DatasetKey("tpch", "c0ffee", 0.01, "duckdb", "2.0.0")
# Generous: a slow host makes the test slow, not red.
PATIENCE_S = 30.0
CONTENT = {"main.db": b"loaded rows", "deep/er/index": b"\x00" * 10_000, "empty": b""}


class Maker:
    """Loads the data, and remembers how often it was asked to."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, place: Path) -> dict[str, Any]:
        self.asked += 1
        assert list(place.iterdir()) == [], "the directory to fill must be empty"
        for name, content in CONTENT.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        return {"tables": {"t": {"rows": 3}}}


@pytest.fixture
def cache(tmp_path: Path) -> DatasetCache:
    return DatasetCache(tmp_path / "cache")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "cache" / KEY.name


def files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def left_behind(cache_dir: Path) -> list[str]:
    return sorted(path.name for path in cache_dir.iterdir())


class TestKey:
    def test_the_name_is_readable_first(self) -> None:
        assert KEY.name.startswith("tpch-0.01-duckdb-")

    @pytest.mark.parametrize(
        "other",
        [
            DatasetKey("tpch", "c0ffee2", 0.01, "duckdb", "2.0.0"),
            DatasetKey("tpch", "c0ffee", 0.0100000001, "duckdb", "2.0.0"),
            DatasetKey("tpch", "c0ffee", 0.01, "null", "2.0.0"),
            DatasetKey("tpch", "c0ffee", 0.01, "duckdb", "2.0.1"),
            DatasetKey("tpch", "c0ffee", 0.01, "duckdb", "2.0.0", foreign_keys=True),
            replace(KEY, refresh_sets=1),
            replace(KEY, generators_version=1),
            replace(KEY, language="sparql"),
            replace(KEY, order={"sorted_by": {"orders": ["o_orderdate"]}}),
            replace(KEY, order={"load_order": ["orders", "lineitem"]}),
        ],
    )
    def test_whatever_changes_the_data_changes_the_name(self, other: DatasetKey) -> None:
        assert other.name != KEY.name

    def test_sets_and_versions_are_not_taken_for_each_other(self) -> None:
        assert replace(KEY, refresh_sets=1).name != replace(KEY, generators_version=1).name

    def test_rows_of_another_generator_are_not_those_that_were_kept(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = understood(RunRequest(workload="tpch", engine="duckdb", scale=0.01), MagicMock())
        before = key_of(asked).name
        monkeypatch.setattr(generate, "VERSION", generate.VERSION + 1)
        assert key_of(asked).name != before

    def test_tables_are_not_taken_for_triples(self) -> None:
        dataset_keys = [
            key_of(
                understood(
                    RunRequest(workload="bsbm", engine="virtuoso", scale=10, language=language),
                    MagicMock(),
                )
            )
            for language in ("sql", "sparql")
        ]
        assert dataset_keys[0].name != dataset_keys[1].name


class TestCopy:
    def test_the_copy_is_what_was_made(self, cache: DatasetCache, tmp_path: Path) -> None:
        manifest = cache.copy_to(KEY, tmp_path / "run", Maker())
        assert files(tmp_path / "run") == CONTENT
        assert manifest["tables"] == {"t": {"rows": 3}}
        assert set(manifest["files"]) == set(CONTENT)
        assert manifest["seconds"] >= 0

    def test_links_lead_where_they_led(self, cache: DatasetCache, tmp_path: Path) -> None:
        def make(data: Path) -> dict[str, Any]:
            (data / "store" / "t").mkdir(parents=True)
            (data / "store" / "t" / "part").write_bytes(b"rows")
            (data / "tables").mkdir()
            (data / "tables" / "t").symlink_to("../store/t")
            return {"tables": {}}

        manifest = cache.copy_to(KEY, tmp_path / "run", make)
        assert set(manifest["files"]) == {"store/t/part"}
        link = tmp_path / "run" / "tables" / "t"
        assert link.readlink() == Path("../store/t")
        assert (link / "part").read_bytes() == b"rows"

    def test_it_is_made_once_and_copied_again(self, cache: DatasetCache, tmp_path: Path) -> None:
        make = Maker()
        first = cache.copy_to(KEY, tmp_path / "one", make)
        second = cache.copy_to(KEY, tmp_path / "two", make)
        assert make.asked == 1
        assert first == second
        assert files(tmp_path / "two") == CONTENT

    def test_what_a_run_does_to_its_copy_does_not_reach_the_cache(
        self, cache: DatasetCache, tmp_path: Path
    ) -> None:
        make = Maker()
        cache.copy_to(KEY, tmp_path / "one", make)
        (tmp_path / "one" / "main.db").write_bytes(b"changed by the run")
        cache.copy_to(KEY, tmp_path / "two", make)
        assert (make.asked, files(tmp_path / "two")) == (1, CONTENT)

    def test_a_write_that_the_system_cuts_short_is_continued(
        self, cache: DatasetCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write = os.write
        monkeypatch.setattr(datasets.os, "write", lambda fd, data: write(fd, data[:1000]))
        cache.copy_to(KEY, tmp_path / "run", Maker())
        assert files(tmp_path / "run") == CONTENT


class TestInterruption:
    @pytest.mark.parametrize("how", [KeyboardInterrupt, RuntimeError, SystemExit])
    def test_an_interrupted_load_leaves_nothing(
        self, cache: DatasetCache, tmp_path: Path, how: type[BaseException]
    ) -> None:
        def interrupted(place: Path) -> dict[str, Any]:
            (place / "half").write_bytes(b"a half table")
            raise how

        with pytest.raises(how):
            cache.copy_to(KEY, tmp_path / "run", interrupted)
        assert left_behind(tmp_path / "cache") == []
        assert not (tmp_path / "run").exists()

    def test_what_a_killed_load_left_is_debris(
        self, cache: DatasetCache, tmp_path: Path, place: Path
    ) -> None:
        debris = place.with_name(place.name + ".partial") / "data"
        debris.mkdir(parents=True)
        (debris / "half").write_bytes(b"a half table")
        cache.copy_to(KEY, tmp_path / "run", Maker())
        assert files(tmp_path / "run") == CONTENT
        assert left_behind(tmp_path / "cache") == [KEY.name]

    def test_what_a_killed_removal_left_is_debris_too(
        self, cache: DatasetCache, tmp_path: Path, place: Path
    ) -> None:
        make = Maker()
        cache.copy_to(KEY, tmp_path / "one", make)
        (place / "manifest.json").unlink()
        cache.copy_to(KEY, tmp_path / "two", make)
        assert (make.asked, files(tmp_path / "two")) == (2, CONTENT)


class TestDamage:
    @pytest.mark.parametrize(
        "harm",
        [
            lambda place: (place / "data" / "main.db").write_bytes(b"loaded rowz"),
            lambda place: (place / "data" / "main.db").write_bytes(b""),
            lambda place: (place / "data" / "main.db").unlink(),
            lambda place: (place / "manifest.json").write_text("{"),
            lambda place: (place / "manifest.json").write_text("[]"),
            lambda place: (place / "manifest.json").write_text('{"files": 3}'),
            lambda place: (place / "manifest.json").write_text('{"files": {"main.db": 3}}'),
        ],
        ids=["bit", "empty", "missing", "cut", "list", "number", "no digest"],
    )
    def test_damaged_data_is_made_anew_once(
        self,
        cache: DatasetCache,
        tmp_path: Path,
        place: Path,
        harm: Any,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        make = Maker()
        cache.copy_to(KEY, tmp_path / "one", make)
        harm(place)
        cache.copy_to(KEY, tmp_path / "two", make)
        assert (make.asked, files(tmp_path / "two")) == (2, CONTENT)
        assert "is damaged (" in caplog.text
        assert "so Assay makes it again" in caplog.text

    def test_data_that_is_damaged_again_at_once_is_not_made_for_ever(
        self, cache: DatasetCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make = Maker()
        monkeypatch.setattr(datasets, "copy_hashed", lambda *_: "not its digest")
        with pytest.raises(datasets.DamagedDataError, match="is not what was loaded"):
            cache.copy_to(KEY, tmp_path / "run", make)
        assert make.asked == 2


class TestFullDisk:
    def full(self, *_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def test_while_it_is_made(self, cache: DatasetCache, tmp_path: Path) -> None:
        with pytest.raises(RunFailedError, match=r"No space left.*XDG_CACHE_HOME") as error:
            cache.copy_to(KEY, tmp_path / "run", self.full)  # type: ignore[arg-type]
        assert str(tmp_path / "cache") in str(error.value)
        assert left_behind(tmp_path / "cache") == []

    def test_while_it_is_copied(
        self, cache: DatasetCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(datasets.os, "write", self.full)
        with pytest.raises(RunFailedError, match=r"No space left.*XDG_CACHE_HOME.*XDG_STATE_HOME"):
            cache.copy_to(KEY, tmp_path / "run", Maker())
        assert left_behind(tmp_path / "cache") == [KEY.name]

    def test_a_cache_that_cannot_be_made_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("", encoding="utf-8")
        with pytest.raises(RunFailedError, match=f"{tmp_path}/file.*XDG_CACHE_HOME"):
            DatasetCache(tmp_path / "file" / "cache").copy_to(KEY, tmp_path / "run", Maker())


def _ask(root: Path, target: Path, log: Path) -> None:
    """One of several processes that want the same data at the same time."""

    def make(place: Path) -> dict[str, Any]:
        with log.open("a", encoding="ascii") as file:
            file.write(f"{os.getpid()}\n")
        # Long enough for the other process to come and find the lock taken.
        threading.Event().wait(0.2)
        return Maker()(place)

    manifest = DatasetCache(root).copy_to(KEY, target, make)
    (target / "told.json").write_text(json.dumps(manifest), encoding="utf-8")


def test_processes_that_ask_at_the_same_time_make_it_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    log = tmp_path / "log"
    askers = [
        context.Process(target=_ask, args=(tmp_path / "cache", tmp_path / f"run{n}", log))
        for n in range(2)
    ]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join(PATIENCE_S)
    assert [asker.exitcode for asker in askers] == [0, 0]
    assert len(log.read_text(encoding="ascii").splitlines()) == 1
    documents = [
        json.loads((tmp_path / f"run{n}" / "told.json").read_text("utf-8")) for n in range(2)
    ]
    assert documents[0] == documents[1]
    for n in range(2):
        assert {k: v for k, v in files(tmp_path / f"run{n}").items() if k != "told.json"} == CONTENT
