"""What `assay workloads new` writes is a workload that runs as it is, and explains every key."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from assay.analysis.answers.comparison import Tolerances, difference, read_expected
from assay.model.errors import UsageError
from assay.workloads import facts, operation_facts
from assay.workloads.answers import answers_folder
from assay.workloads.contract import Workload
from assay.workloads.discovery import find_workload, find_workloads
from assay.workloads.new import new_workload

TABLES = (
    facts.WorkloadFacts,
    operation_facts.OperationFacts,
    operation_facts.WaitFacts,
    operation_facts.Rule,
    operation_facts.Constant,
    *facts.TABLES.values(),
)


@pytest.fixture
def written(tmp_path: Path) -> Workload:
    new_workload(tmp_path / "mine")
    return find_workload(str(tmp_path / "mine"))


class TestWriting:
    def test_it_tells_what_it_wrote(self, tmp_path: Path) -> None:
        folder = tmp_path / "deep" / "mine"
        files = [path.relative_to(folder).as_posix() for path in new_workload(folder)]
        assert files == [
            "answers/sf1/report.csv",
            "answers/sf1/town.csv",
            "operations/report.sql",
            "operations/town.sql",
            "schema/fill.sql",
            "schema/keys.sql",
            "schema/tables.sql",
            "workload.toml",
        ]

    def test_an_empty_folder_may_be_there(self, tmp_path: Path) -> None:
        new_workload(tmp_path)
        assert (tmp_path / "workload.toml").is_file()

    @pytest.mark.parametrize("there", ["mine/words.txt", "mine"])
    def test_nothing_is_overwritten(self, tmp_path: Path, there: str) -> None:
        (tmp_path / there).parent.mkdir(exist_ok=True)
        (tmp_path / there).write_text("words", encoding="utf-8")
        with pytest.raises(UsageError, match=r"mine exists already and is not overwritten"):
            new_workload(tmp_path / "mine")
        assert (tmp_path / there).read_text("utf-8") == "words"

    def test_a_place_that_cannot_be_written_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("words", encoding="utf-8")
        with pytest.raises(UsageError, match=r"file/mine cannot be written"):
            new_workload(tmp_path / "file" / "mine")

    def test_the_example_itself_is_no_workload_of_ours(self) -> None:
        names = set(find_workloads())
        assert "tpch" in names
        assert "example" not in names


class TestExample:
    def test_it_takes_its_name_from_the_folder(self, written: Workload) -> None:
        assert (written.facts.name, written.facts.title) == ("mine", "mine")

    @pytest.mark.parametrize("dialects", [("duckdb", "postgresql"), ("postgresql",)])
    def test_its_script_is_two_statements(
        self, written: Workload, dialects: tuple[str, ...]
    ) -> None:
        report, town = written.script(dialects, 1.0, seed=1).operations
        assert (report.name, town.name) == ("report", "town")
        assert report.statements[0].text.startswith("-- How often")
        assert town.statements[0].text.endswith("where town = 42")
        assert "region = 'south'" in town.statements[0].text
        assert [len(operation.statements) for operation in (report, town)] == [1, 1]

    def test_drawn_towns_are_there_at_every_scale(self, written: Workload) -> None:
        drawn = [
            int(written.statement("town", (), 0.01, seed).parameters["town"][0])
            for seed in range(200)
        ]
        assert (min(drawn), max(drawn)) == (1, 10)

    def test_its_answers_are_what_duckdb_says(self, written: Workload) -> None:
        answers = answers_folder(written, 1.0)
        assert answers is not None
        assert answers_folder(written, 2.0) is None
        with duckdb.connect() as connection:
            made = {**written.setup(("duckdb",), 1.0), **written.keys(("duckdb",), 1.0)}
            for text in made.values():
                connection.execute(text)
            for operation in written.script(("duckdb",), 1.0, seed=1).operations:
                rows = connection.execute(operation.statements[0].text).fetchall()
                measured_operation = written.facts.operations[operation.name]
                tolerances = Tolerances.of(measured_operation.answer, 0.0, 0.0, 1.0)
                expected = read_expected(answers / f"{operation.name}.csv")
                assert difference(rows, expected, tolerances) is None
                assert len(rows) == measured_operation.rows

    def test_every_key_is_explained(self, written: Workload) -> None:
        lines = (written.folder / "workload.toml").read_text("utf-8").splitlines()
        text = "\n".join(line[line.index("#") :] for line in lines if "#" in line)
        keys = {key for table in TABLES for key in table.model_fields}
        # These three are tables of the file itself, each below a sentence about it.
        tables = {key for key in keys if re.search(rf"(?m)^\[[\w.]*\b{key}\b", "\n".join(lines))}
        missing = {key for key in keys - tables if not re.search(rf"\b{key}\b", text)}
        assert missing == set()
