"""SQL that changes the loaded data before anything is timed: in effect, recorded, gone after."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from tests.e2e.conftest import POSTGRESQL, SMALL, Lab
from tests.e2e.server import DATABASE, HOST, PASSWORD

TWICE = "-- A line of its own; nothing ends here.\ninsert into region select * from region;\n"
# Queries whose answers follow from the regions.
OF_REGIONS = [*SMALL, "-o", "q02", "-o", "q05", "--no-plans"]
EMPTIED = "delete from lineitem;\n"
WRONG = "create index fine on nation (n_name);\ncreate index wrong on nation (no_such);\n"


@pytest.fixture
def counting(tmp_path: Path) -> Path:
    """A workload that makes no table and reads one that only `--prepare` can have made."""
    folder = tmp_path / "counting"
    folder.mkdir()
    (folder / "made.sql").write_text("select count(*) from made;\n")
    return folder


def rows_of(lab: Lab, operation: str) -> list[int]:
    from assay.record.reader import Run

    events = Run(lab.latest()).table("events")
    return events.filter(events["operation"] == operation)["rows"].unique().to_list()


def file_of(folder: Path, text: str) -> str:
    file = folder / "change.sql"
    file.write_text(text)
    return str(file)


class TestDuckDB:
    def test_it_is_in_effect_and_recorded_and_the_data_set_stays(
        self, lab: Lab, tmp_path: Path
    ) -> None:
        file = file_of(tmp_path, TWICE)
        document = lab.document("run", "tpch", *OF_REGIONS, "--prepare", file, code=3)
        # Twice as many regions: what joins with them is twice as long, and so not right any more.
        assert document["verdict"] == "invalid"
        recorded = json.loads((lab.latest() / "run.json").read_text())
        assert recorded["request"]["prepare"] == {file: TWICE}
        assert [prepared_file["file"] for prepared_file in recorded["prepared"]] == [file]
        assert document["conditions"]["prepare"] == [file]
        assert "data changed by change.sql" in lab.assay("show", "latest").stdout
        plain = lab.document("run", "tpch", *OF_REGIONS)
        assert plain["verdict"] != "invalid"
        kept = next(lab.datasets.glob("tpch-0.01-duckdb-*")) / "data" / "assay.duckdb"
        with duckdb.connect(kept, read_only=True) as connection:
            assert connection.table("region").count("*").fetchall() == [(5,)]
        lab.assert_nothing_left()

    def test_a_table_that_it_makes_is_there_for_a_workload_without_data(
        self, lab: Lab, tmp_path: Path, counting: Path
    ) -> None:
        file = file_of(tmp_path, "create table made as select 1 as one;")
        document = lab.document(
            "run", str(counting), "--engine", "duckdb", "--prepare", file, "--min-time", "100ms"
        )
        assert [operation["outcome"] for operation in document["operations"]] == ["ok"]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (WRONG, "create index wrong"),
            ("select from where;", "syntax error"),
            ("begin; create table x (a int);", "CHECKPOINT"),
        ],
    )
    def test_what_is_refused_names_file_statement_and_mend(
        self, lab: Lab, tmp_path: Path, text: str, message: str
    ) -> None:
        file = file_of(tmp_path, text)
        result = lab.assay("run", "tpch", *SMALL, "--prepare", file)
        assert result.returncode == 2
        assert f"--prepare {file}" in result.stderr
        assert message in result.stderr
        assert "Correct the file" in result.stderr
        assert lab.status() == "failed"
        lab.assert_nothing_left()


class TestPostgreSQL:
    def test_it_is_in_effect_in_every_session(
        self, server_lab: Lab, tmp_path: Path, counting: Path
    ) -> None:
        file = file_of(tmp_path, "create table made as select 1 as one; analyze made;")
        document = server_lab.document(
            "run", str(counting), "--engine", POSTGRESQL, "--prepare", file, "--min-time", "100ms"
        )
        assert [operation["outcome"] for operation in document["operations"]] == ["ok"]
        server_lab.assert_nothing_left()

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (WRONG, "create index wrong"),
            (
                "begin; create table x (a int);",
                "within an open transaction, whose changes would be lost: add 'commit;'",
            ),
        ],
    )
    def test_what_is_refused_names_file_statement_and_mend(
        self, server_lab: Lab, tmp_path: Path, text: str, message: str
    ) -> None:
        file = file_of(tmp_path, text)
        result = server_lab.assay("run", "tpch", "--engine", POSTGRESQL, *SMALL, "--prepare", file)
        assert result.returncode == 2
        assert f"--prepare {file}" in result.stderr
        assert message in " ".join(result.stderr.split())
        assert server_lab.status() == "failed"
        server_lab.assert_nothing_left()


class TestRunningServer:
    @pytest.fixture
    def guest(self, server, server_lab: Lab) -> Lab:
        server_lab.extra_env["PGPASSWORD"] = PASSWORD
        return server_lab

    def dsn(self, server) -> list[str]:
        return ["--dsn", f"postgresql://owner@{HOST}:{server.port}/{DATABASE}"]

    def namespaces(self, server) -> list[tuple[str]]:
        return server.asked("select nspname from pg_namespace where nspname like 'assay%'")

    def test_tables_that_were_kept_are_not_those_that_are_changed(
        self, server, guest: Lab, tmp_path: Path
    ) -> None:
        run = ["run", "tpch", *SMALL, *self.dsn(server)]
        guest.document(*run, "--keep-data")
        kept = self.namespaces(server)
        try:
            changed = guest.document(*run, "--prepare", file_of(tmp_path, EMPTIED), code=3)
            assert changed["verdict"] == "invalid"
            assert self.namespaces(server) == kept
            rows = server.asked("select count(*) from assay_tpch_0_01.lineitem")
            assert rows == [(60175,)]
        finally:
            server.asked("drop schema assay_tpch_0_01 cascade")

    def test_tables_that_the_server_had_are_not_changed(
        self, server, guest: Lab, tmp_path: Path, counting: Path
    ) -> None:
        file = file_of(tmp_path, "create table made as select 1 as one;")
        result = guest.assay("run", str(counting), *self.dsn(server), "--prepare", file)
        assert result.returncode == 1
        assert "change these yourself" in result.stderr
        assert server.asked("select 1 from pg_class where relname = 'made'") == []
