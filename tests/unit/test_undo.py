"""What a run changed is put back from its journal, whatever moment it died in."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from assay.running.changes import undo
from assay.running.changes.undo import Journal, Step, loops_of, put_back


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "changes").mkdir()
    return tmp_path / "changes" / "a-run.json"


def a_file(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text)
    return file


def writing(file: Path, text: str) -> Step:
    return Step("write", str(file), f"{file.name} was changed", text)


class TestAJournal:
    def test_is_on_disk_before_anything_is_changed(self, path: Path, tmp_path: Path) -> None:
        file = a_file(tmp_path, "setting", "8192")
        Journal(path, {"owner": {"pid": 7}}).note(writing(file, "8192"))
        journal = Journal.read(path)
        assert journal.steps == [writing(file, "8192")]
        assert journal.run == "a-run"
        assert journal.owner == {"owner": {"pid": 7}}

    def test_is_carried_out_last_first(self, path: Path, tmp_path: Path) -> None:
        file = a_file(tmp_path, "setting", "0")
        journal = Journal(path)
        journal.note(writing(file, "first"))
        journal.note(writing(file, "second"))
        assert journal.undo() == []
        assert file.read_text() == "first"
        assert not path.exists()

    def test_keeps_what_cannot_be_put_back_and_nothing_else(
        self, path: Path, tmp_path: Path
    ) -> None:
        file = a_file(tmp_path, "setting", "0")
        journal = Journal(path)
        journal.note(writing(file, "8192"))
        journal.note(Step("write", str(tmp_path), "a folder is no file", "1"))
        (message,) = journal.undo()
        assert "a folder is no file" in message
        assert file.read_text() == "8192"
        assert [step.words for step in Journal.read(path).steps] == ["a folder is no file"]

    def test_forgets_a_step_that_could_not_be_written_down(self, tmp_path: Path) -> None:
        journal = Journal(tmp_path / "nowhere" / "a-run.json")
        with pytest.raises(OSError, match="nowhere"):
            journal.note(writing(tmp_path / "setting", "1"))
        assert journal.steps == []

    def test_of_before_a_reboot_only_removes_files(self, path: Path, tmp_path: Path) -> None:
        setting, image = a_file(tmp_path, "setting", "0"), a_file(tmp_path, "image", "")
        journal = Journal(path)
        journal.note(Step("unlink", str(image), "a file"))
        journal.note(writing(setting, "8192"))
        journal_document = json.loads(path.read_text()) | {"boot": "another"}
        path.write_text(json.dumps(journal_document))
        assert put_back(path) == []
        assert setting.read_text() == "0"
        assert not image.exists()


class TestSteps:
    @pytest.mark.parametrize("do", ["write", "unmount", "detach", "leave_group", "unlink"])
    def test_whose_change_was_never_made_do_nothing(
        self, path: Path, tmp_path: Path, do: str
    ) -> None:
        journal = Journal(path)
        journal.note(Step(do, str(tmp_path / "never" / "made"), "never made", "8192"))
        assert journal.undo() == []
        assert not (tmp_path / "never").exists()

    def test_loop_devices_are_known_by_their_file(self, tmp_path: Path) -> None:
        for name, file in (("loop0", "/a"), ("loop1", "/b"), ("loop2", "/b (deleted)")):
            (tmp_path / name / "loop").mkdir(parents=True)
            a_file(tmp_path / name / "loop", "backing_file", f"{file}\n")
        (tmp_path / "loop3").mkdir()
        assert loops_of("/b", tmp_path) == ["loop1", "loop2"]


def dropping(file: Path, engine: str = "sqlite") -> Step:
    text = json.dumps({"engine": engine, "sql": ["drop table if exists made;"]})
    return Step("run_sql", str(file), "a table was made", text)


class TestStatements:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        file = tmp_path / "shop.db"
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript("create table kept (a); create table made (a);")
        return file

    def tables(self, file: Path) -> list[str]:
        with closing(sqlite3.connect(file)) as connection:
            return [row[0] for row in connection.execute("select name from sqlite_schema")]

    def test_are_run_on_a_file_after_a_reboot_too(self, path: Path, file: Path) -> None:
        journal = Journal(path)
        journal.boot = "another"
        journal.note(dropping(file))
        assert journal.undo() == []
        assert self.tables(file) == ["kept"]

    def test_execute_no_module_of_the_current_directory(
        self, path: Path, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shared = tmp_path / "shared"
        theirs = shared / "assay" / "running" / "server" / "file_sql.py"
        theirs.parent.mkdir(parents=True)
        theirs.write_text("open('executed', 'w')")
        (shared / "assay" / "__init__.py").touch()
        monkeypatch.chdir(shared)
        journal = Journal(path)
        journal.note(dropping(file))
        assert journal.undo() == []
        assert self.tables(file) == ["kept"]
        assert not (shared / "executed").exists()

    def test_that_cannot_be_run_stay_in_the_journal_with_the_reason(
        self, path: Path, file: Path
    ) -> None:
        journal = Journal(path)
        journal.note(dropping(file, engine="nosuch"))
        (message,) = journal.undo()
        assert "nosuch" in message
        assert len(Journal.read(path).steps) == 1
        assert self.tables(file) == ["kept", "made"]

    def test_of_a_file_that_is_gone_have_nothing_to_do(self, path: Path, tmp_path: Path) -> None:
        journal = Journal(path)
        journal.note(dropping(tmp_path / "gone.db"))
        assert journal.undo() == []
        assert not path.exists()
        assert not (tmp_path / "gone.db").exists()


class TestTheProgram:
    def run(self, path: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", undo.__file__, str(path)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_puts_back_with_nothing_of_ours_imported(self, path: Path, tmp_path: Path) -> None:
        file = a_file(tmp_path, "setting", "0")
        Journal(path).note(writing(file, "8192"))
        result = self.run(path)
        assert (result.returncode, result.stderr) == (0, "")
        assert file.read_text() == "8192"
        assert not path.exists()

    def test_without_a_journal_has_nothing_to_do(self, path: Path) -> None:
        assert self.run(path).returncode == 0

    @pytest.mark.parametrize("text", ["", "[]", '{"format": 99}', '{"format": 1}'])
    def test_leaves_what_is_no_journal(self, path: Path, text: str) -> None:
        path.write_text(text)
        result = self.run(path)
        assert result.returncode == 1
        assert "cannot be read" in result.stderr
        assert path.read_text() == text
