"""A run directory says from its first moment on how the run stands, and is never half written."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.model.errors import RecordRemovedError, RecordUnreadableError, RunFailedError, UsageError
from assay.record import studies, writer
from assay.record.layout import SCHEMA_VERSION
from assay.record.reader import Run, find_measured_run, find_run, list_runs
from assay.record.studies import write_study
from assay.record.writer import RunWriter, ensure_runs_dir, new_run_id, write_json
from assay.report.results.runs import unjudged_row
from tests.conftest import SyntheticRun, write_stream
from tests.permissions import forbidden

ASKED = {"request": {"workload": "w"}}


def facts(run_dir: Path) -> dict[str, Any]:
    return json.loads((run_dir / "run.json").read_text(encoding="utf-8"))


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class TestWriter:
    def test_run_json_is_the_first_file_and_says_that_the_run_is_running(
        self, tmp_path: Path
    ) -> None:
        with RunWriter(tmp_path, "r1", ASKED) as run:
            assert [path.name for path in run.dir.rglob("*") if path.is_file()] == ["run.json"]
            recorded_facts = facts(run.dir)
        assert (
            recorded_facts["status"],
            recorded_facts["reason"],
            recorded_facts["ended_utc"],
        ) == ("running", None, None)
        assert (recorded_facts["schema"], recorded_facts["id"]) == (SCHEMA_VERSION, "r1")
        assert recorded_facts["request"] == {"workload": "w"}

    @pytest.mark.parametrize("played", [False, True])
    def test_a_run_that_was_refused_before_anything_was_played_says_so(
        self, tmp_path: Path, played: bool
    ) -> None:
        def refuse() -> None:
            with RunWriter(tmp_path, "r1", ASKED) as run:
                if played:
                    (run.raw / "events.arrows").touch()
                raise UsageError("no such function")

        with pytest.raises(UsageError):
            refuse()
        recorded_facts = facts(tmp_path / "r1")
        assert recorded_facts["status"] == "failed"
        assert recorded_facts["refused"] is not played
        assert unjudged_row(tmp_path / "r1")["state"] == ("failed" if played else "refused")

    def test_a_sealed_run_is_complete(self, tmp_path: Path) -> None:
        with RunWriter(tmp_path, "r1", ASKED) as run:
            run.seal()
        assert facts(run.dir)["status"] == "complete"
        assert facts(run.dir)["ended_utc"] is not None
        assert Run(run.dir).sealed
        assert Run(run.dir).broken_seals() == []

    def test_an_error_leaves_failed_with_its_reason(self, tmp_path: Path) -> None:
        with pytest.raises(RuntimeError), RunWriter(tmp_path, "r1", ASKED) as run:
            raise RuntimeError("the engine went away")
        assert (facts(run.dir)["status"], facts(run.dir)["reason"]) == (
            "failed",
            "the engine went away",
        )
        assert not Run(run.dir).sealed

    def test_an_error_without_words_is_named_by_its_class(self, tmp_path: Path) -> None:
        with pytest.raises(ZeroDivisionError), RunWriter(tmp_path, "r1", ASKED) as run:
            raise ZeroDivisionError
        assert facts(run.dir)["reason"] == "ZeroDivisionError()"

    @pytest.mark.parametrize(
        ("interrupt", "reason"),
        [
            (KeyboardInterrupt(), "stopped by Ctrl-C"),
            (KeyboardInterrupt("SIGTERM"), "stopped by SIGTERM"),
        ],
    )
    def test_what_stopped_it_is_told(
        self, tmp_path: Path, interrupt: KeyboardInterrupt, reason: str
    ) -> None:
        with pytest.raises(KeyboardInterrupt), RunWriter(tmp_path, "r1", ASKED) as run:
            raise interrupt
        recorded_facts = facts(run.dir)
        assert (recorded_facts["status"], recorded_facts["reason"]) == ("interrupted", reason)

    def test_leaving_without_a_seal_is_a_failure_with_a_reason(self, tmp_path: Path) -> None:
        with RunWriter(tmp_path, "r1", ASKED) as run:
            pass
        assert facts(run.dir)["status"] == "failed"
        assert "seal" in facts(run.dir)["reason"]

    def test_an_error_after_the_seal_does_not_touch_what_is_sealed(self, tmp_path: Path) -> None:
        run = RunWriter(tmp_path, "r1", ASKED).__enter__()
        run.seal()
        run.__exit__(RuntimeError, RuntimeError("too late"), None)
        assert facts(run.dir)["status"] == "complete"
        assert Run(run.dir).broken_seals() == []

    def test_facts_are_added_and_nothing_is_lost(self, tmp_path: Path) -> None:
        with RunWriter(tmp_path, "r1", ASKED) as run:
            run.update(probes={"system": {}})
            assert facts(run.dir)["probes"] == {"system": {}}
            assert facts(run.dir)["request"] == {"workload": "w"}

    def test_a_run_id_is_never_used_twice(self, tmp_path: Path) -> None:
        with RunWriter(tmp_path, "r1", ASKED) as run:
            run.seal()
        before = facts(run.dir)
        with pytest.raises(RunFailedError), RunWriter(tmp_path, "r1", ASKED):
            pass
        assert facts(run.dir) == before

    def test_an_id_has_time_workload_engine_and_six_hexadecimal_digits(self) -> None:
        assert re.fullmatch(r"\d{8}T\d{9}Z-tpch-duckdb-[0-9a-f]{6}", new_run_id("tpch", "duckdb"))


class TestAtomicReplacement:
    def test_a_reader_sees_the_old_document_or_the_new_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "run.json"
        write_json(path, {"n": 1})
        seen: list[Any] = []

        def look(_: int) -> None:
            seen.append(json.loads(path.read_text(encoding="utf-8")))

        monkeypatch.setattr(writer.os, "fsync", look)
        write_json(path, {"n": 2})
        assert seen == [{"n": 1}]
        assert facts(tmp_path) == {"n": 2}

    def test_a_reader_that_has_opened_the_old_document_reads_it_to_its_end(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "run.json"
        write_json(path, {"n": 1})
        with path.open(encoding="utf-8") as opened:
            write_json(path, {"n": 2})
            assert json.load(opened) == {"n": 1}
        assert list(tmp_path.iterdir()) == [path]

    def test_what_is_on_disk_before_the_rename_is_whole_and_was_forced_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        forced: list[Any] = []

        def look(_: int) -> None:
            forced.append(json.loads((tmp_path / "run.json.partial").read_text(encoding="utf-8")))

        monkeypatch.setattr(writer.os, "fsync", look)
        write_json(tmp_path / "run.json", {"n": 2})
        assert forced == [{"n": 2}]

    def test_a_document_that_cannot_be_written_leaves_the_old_one(self, tmp_path: Path) -> None:
        write_json(tmp_path / "run.json", {"n": 1})
        with pytest.raises(TypeError):
            write_json(tmp_path / "run.json", {"n": object()})
        assert facts(tmp_path) == {"n": 1}


class TestFullDisk:
    def test_at_the_beginning_it_is_told_with_the_place_and_the_mend(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(writer.os, "fsync", full_disk)
        with pytest.raises(UsageError, match=r"No space left.*Nothing.*--runs") as error:
            RunWriter(tmp_path, "r1", ASKED).__enter__()
        assert str(tmp_path / "r1") in str(error.value)
        assert error.value.exit_code == 1
        assert list(tmp_path.iterdir()) == []

    def test_at_the_beginning_no_directory_is_left(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make = Path.mkdir

        def mkdir(path: Path, *arguments: Any, **options: Any) -> None:
            if path.name == "derived":
                full_disk()
            make(path, *arguments, **options)

        monkeypatch.setattr(Path, "mkdir", mkdir)
        with pytest.raises(UsageError, match="free some space"):
            RunWriter(tmp_path, "r1", ASKED).__enter__()
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("name", ["", "new", "new/deep"])
    def test_a_place_for_runs_that_may_not_be_written_is_refused_before_work(
        self, tmp_path: Path, name: str
    ) -> None:
        with (
            forbidden(tmp_path, 0o500),
            pytest.raises(UsageError, match=r"cannot write .*: Permission denied.*--runs DIR"),
        ):
            ensure_runs_dir(tmp_path / name)
        assert list(tmp_path.iterdir()) == []

    def test_space_is_advised_only_for_a_full_disk(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def read_only(*_: object) -> None:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        monkeypatch.setattr(writer.os, "fsync", read_only)
        with pytest.raises(UsageError, match="Read-only file system") as error:
            RunWriter(tmp_path, "r1", ASKED).__enter__()
        assert "free some space" not in str(error.value)

    def test_a_record_that_was_removed_is_not_called_stored(self, tmp_path: Path) -> None:
        run = RunWriter(tmp_path, "r1", ASKED).__enter__()
        shutil.rmtree(run.dir)
        with pytest.raises(RecordRemovedError, match="nothing of it is kept") as error:
            run.update(more=1)
        run.__exit__(RecordRemovedError, error.value, None)
        assert error.value.exit_code == 2
        assert list(tmp_path.iterdir()) == []

    def test_a_study_that_has_no_room_leaves_nothing_of_its_beginning(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        study = tmp_path / "studies" / "one"
        monkeypatch.setattr(studies.os, "fsync", full_disk)
        with pytest.raises(UsageError, match=r"No space left.*No run was started"):
            write_study(study, {"schema": 2, "question": "?", "seed": 1})
        assert list(study.parent.iterdir()) == []

    def test_a_later_version_of_a_study_leaves_the_earlier_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        study = tmp_path / "studies" / "one"
        write_study(study, {"schema": 2, "question": "?", "seed": 1})
        before = (study / "study.toml").read_text()
        monkeypatch.setattr(studies.os, "fsync", full_disk)
        with pytest.raises(RunFailedError, match="The completed runs are stored"):
            write_study(study, {"schema": 2, "question": "!", "seed": 1})
        assert [path.name for path in study.iterdir()] == ["study.toml"]
        assert (study / "study.toml").read_text() == before

    @pytest.mark.parametrize(
        "step",
        [
            lambda run: run.update(more=1),
            lambda run: run.write_environment({"host": {}}),
            lambda run: run.seal(),
        ],
        ids=["update", "environment", "seal"],
    )
    def test_later_on_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: Any) -> None:
        run = RunWriter(tmp_path, "r1", ASKED).__enter__()
        monkeypatch.setattr(writer.os, "fsync", full_disk)
        with pytest.raises(RunFailedError, match="--runs"):
            step(run)
        assert facts(run.dir)["status"] == "running"

    def test_a_seal_that_does_not_fit_is_no_seal_and_the_run_failed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(writer, "write_seal", full_disk)
        with (
            pytest.raises(RunFailedError, match="--runs"),
            RunWriter(tmp_path, "r1", ASKED) as run,
        ):
            run.seal()
        assert facts(run.dir)["status"] == "failed"
        assert not Run(run.dir).sealed

    def test_a_place_for_runs_that_cannot_be_made_is_told_with_both_ways_to_name_another(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "file").write_text("", encoding="utf-8")
        with pytest.raises(UsageError, match="--runs DIR or ASSAY_RUNS"):
            ensure_runs_dir(tmp_path / "file" / "runs")


def made(runs: Path, *ids: str) -> None:
    for run_id in ids:
        (runs / run_id).mkdir(parents=True)
        write_json(runs / run_id / "run.json", {"schema": 1, "id": run_id, "status": "complete"})


OLD, MIDDLE, NEW = (
    "20260101T000000Z-tpch-duckdb-aaaaaa",
    "20260102T000000Z-tpch-null-bbbbbb",
    "20260102T000001Z-tpch-duckdb-cccccc",
)


class TestFindingARun:
    @pytest.fixture
    def runs(self, tmp_path: Path) -> Path:
        made(tmp_path / "runs", MIDDLE, NEW, OLD)
        return tmp_path / "runs"

    def test_latest_is_the_youngest(self, runs: Path) -> None:
        assert find_run("latest", runs).name == NEW

    @pytest.mark.parametrize("name", [MIDDLE, "bbbbbb", "20260102T000000Z"])
    def test_an_id_its_last_part_or_its_beginning_names_it(self, runs: Path, name: str) -> None:
        assert find_run(name, runs).name == MIDDLE

    def test_a_path_names_it_from_anywhere(self, runs: Path, tmp_path: Path) -> None:
        assert find_run(str(runs / OLD), tmp_path / "elsewhere").name == OLD

    def test_a_beginning_of_several_is_refused_with_their_number(self, runs: Path) -> None:
        with pytest.raises(RecordUnreadableError, match=r"2 runs in .* begin with '20260102'"):
            find_run("20260102", runs)

    def test_an_unknown_name_suggests_the_nearest(self, runs: Path) -> None:
        with pytest.raises(RecordUnreadableError, match=f"did you mean '{OLD}'"):
            find_run(OLD[:-1] + "b", runs)

    def test_the_name_of_a_workload_is_answered_with_its_newest_run(self, runs: Path) -> None:
        with pytest.raises(RecordUnreadableError, match=f"the newest of tpch is {NEW}"):
            find_run("tpch", runs)

    def test_a_run_that_measured_nothing_is_refused_with_its_reason(self, tmp_path: Path) -> None:
        made(tmp_path, OLD)
        ended = {"status": "failed", "reason": "schema.sql: syntax error\nLINE 1: x"}
        write_json(tmp_path / OLD / "run.json", {"schema": 1, "id": OLD, **ended})
        with pytest.raises(RecordUnreadableError, match=r": schema\.sql: syntax error\. Name"):
            find_measured_run("latest", tmp_path)

    @pytest.mark.parametrize("name", ["latest", OLD])
    def test_without_runs_the_message_says_how_to_make_one(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(RecordUnreadableError, match="Make one with `assay run tpch`"):
            find_run(name, tmp_path)

    def test_directories_that_are_no_runs_are_not_listed(self, runs: Path) -> None:
        (runs / "notes").mkdir()
        (runs / "file").write_text("", encoding="utf-8")
        assert [path.name for path in list_runs(runs)] == [OLD, MIDDLE, NEW]
        assert list_runs(runs / "nowhere") == []


class TestReader:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "{",
            '{"schema": 1',
            "[]",
            "null",
            "\x00\x01",
            "[" * 100_000,
            '{"a":1}',
            '{"schema": "1"}',
        ],
        ids=["empty", "open", "cut", "list", "null", "binary", "deep", "no schema", "text schema"],
    )
    def test_a_damaged_run_json_is_named(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "run.json").write_text(text, encoding="utf-8")
        with pytest.raises(RecordUnreadableError, match=r"run\.json"):
            Run(tmp_path)

    def test_bytes_that_are_no_text_are_named_too(self, tmp_path: Path) -> None:
        (tmp_path / "run.json").write_bytes(b"\xff\xfe{}")
        with pytest.raises(RecordUnreadableError, match=r"run\.json"):
            Run(tmp_path)

    @pytest.mark.parametrize("key", ["id", "status"])
    def test_a_fact_that_every_run_has_is_missed_at_once(self, tmp_path: Path, key: str) -> None:
        run_facts = {"schema": 1, "id": "x", "status": "complete"}
        del run_facts[key]
        write_json(tmp_path / "run.json", run_facts)
        with pytest.raises(RecordUnreadableError, match=key):
            Run(tmp_path)

    def test_a_directory_without_run_json_is_no_run(self, tmp_path: Path) -> None:
        with pytest.raises(RecordUnreadableError, match="not a run directory"):
            Run(tmp_path)

    def test_a_newer_schema_asks_for_a_newer_assay(self, tmp_path: Path) -> None:
        newer = SCHEMA_VERSION + 1
        write_json(tmp_path / "run.json", {"schema": newer, "id": "x", "status": "complete"})
        with pytest.raises(RecordUnreadableError, match=f"schema version {newer}.*newer Assay"):
            Run(tmp_path)

    def test_a_stream_that_is_not_there_is_named(self, synthetic: SyntheticRun) -> None:
        run = synthetic.write()
        assert not run.has("samples")
        with pytest.raises(RecordUnreadableError, match=r"samples\.arrows is missing"):
            run.table("samples")

    def test_a_stream_without_rows_has_its_columns(self, synthetic: SyntheticRun) -> None:
        run = synthetic.write()
        write_stream(run.dir / "raw" / "disks.arrows", [])
        table = run.table("disks")
        assert table.height == 0
        assert "read_bytes" in table.columns

    def test_a_run_that_ended_early_has_neither_environment_nor_report(
        self, tmp_path: Path
    ) -> None:
        made(tmp_path, OLD)
        run = Run(tmp_path / OLD)
        assert run.environment == {}
        assert run.driver_report is None
        assert run.broken_seals() == []

    def test_results_are_found_by_operation_and_digest(self, synthetic: SyntheticRun) -> None:
        run = synthetic.write()
        assert [digest for digest, _ in run.results("a")] == ["0000000000000001"]
        assert run.results("nothing") == []
        assert run.expected("a") == run.dir / "raw" / "results" / "expected" / "a.csv"
        assert run.expected("nothing") is None
