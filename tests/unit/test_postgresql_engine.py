"""What the engine `postgresql` does without a server; with one, see tests/contract."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from assay.engines.contract import (
    ChecksSettings,
    EngineError,
    HasCounters,
    Instance,
    Product,
    Server,
)
from assay.engines.discovery import find_engine
from assay.engines.loading import BulkLoads, HasKeys, LoadSettings, LoadsTablesTogether
from assay.engines.postgres_family.connecting import guarded
from assay.engines.postgresql import engine as module
from assay.engines.postgresql import loading
from assay.engines.postgresql.connecting import connect, read_dsn
from assay.engines.postgresql.counters import read_source
from assay.engines.postgresql.engine import PostgresEngine
from assay.engines.postgresql.programs import (
    Programs,
    find_programs,
    read_configuration,
    write_configuration,
)
from assay.engines.postgresql.server import (
    CONF,
    OURS,
    SOCKET_PATH_BYTES_MAX,
    default_settings,
    socket_fits,
)
from assay.engines.postgresql.statements import split
from assay.model.script import Script, ScriptOperation, ScriptStatement

SOURCES = sorted((CONF / "counters").glob("*.sql"))
# Versions whose programs can be obtained or named.
MAJORS = range(13, 19)


@pytest.fixture
def engine() -> PostgresEngine:
    engine_folder = find_engine("postgresql")
    return PostgresEngine(engine_folder.facts)


def the_programs(root: Path, script: str) -> Programs:
    """A `postgres` that answers as the script does."""
    bin_dir = root / "bin"
    bin_dir.mkdir(parents=True)
    for name in ("postgres", "initdb"):
        (bin_dir / name).write_text(f"#!/bin/sh\n{script}\n")
        (bin_dir / name).chmod(0o755)
    return Programs(bin_dir)


class TestAbilities:
    @pytest.mark.parametrize(
        "ability",
        [
            Server,
            BulkLoads,
            HasKeys,
            HasCounters,
            ChecksSettings,
            LoadSettings,
            LoadsTablesTogether,
        ],
    )
    def test_it_has_all_that_a_server_can_have(self, engine: object, ability: type) -> None:
        assert isinstance(engine, ability)


class TestStatements:
    @pytest.mark.parametrize(
        ("sql", "statements"),
        [
            ("", []),
            (" ; ;\n-- only a comment; of two parts\n", []),
            ("select 1", ["select 1"]),
            ("select 1;\nselect 2;\n", ["select 1", "select 2"]),
            ("select ';'; select \";\"", ["select ';'", 'select ";"']),
            ("select 'it''s;'; x", ["select 'it''s;'", "x"]),
            (r"select E'\';'; x", [r"select E'\';'", "x"]),
            ("do $$ begin; end $$; x", ["do $$ begin; end $$", "x"]),
            ("do $a$ $$; $a$; x", ["do $a$ $$; $a$", "x"]),
            ("-- a;\nselect /* b; */ 1; -- c;", ["select   1"]),
            ("select $1; x", ["select $1", "x"]),
        ],
    )
    def test_they_are_told_apart(self, sql: str, statements: list[str]) -> None:
        assert split(sql) == statements

    @pytest.mark.parametrize(
        ("statement", "kind"),
        [
            ("alter table a add primary key (x)", "primary keys"),
            ("ALTER TABLE a ADD CONSTRAINT c UNIQUE (x)", "primary keys"),
            ("create unique index on a (x)", "primary keys"),
            ("create index on a (x)", "indexes"),
            ("cluster a using i", "indexes"),
            ("alter table a add foreign key (x) references b (y)", "foreign keys"),
            ("alter table a add constraint c foreign key (x) references b", "foreign keys"),
        ],
    )
    def test_their_kind_gives_their_order(self, statement: str, kind: str) -> None:
        assert loading.kind_of(statement) == kind


class TestDsn:
    @pytest.mark.parametrize(
        "dsn",
        [
            "postgresql://u:secret@h:1/d",
            "postgres://u:secret@h:1/d",
            "host=h port=1 user=u password=secret dbname=d",
        ],
    )
    def test_urls_and_keywords_are_one(self, dsn: str) -> None:
        parameters = set(read_dsn(dsn)["dsn"].split())
        assert parameters == {"user=u", "password=secret", "dbname=d", "host=h", "port=1"}

    @pytest.mark.parametrize(
        "dsn",
        [
            "postgresql://u:hunter%2@h/d",
            "postgresql://u:hunter2@h/d?nonsense=1",
            "postgresql://u:xx@hunter2@h/d",
            "postgresql://u:hunter2/d",
            "user=u hunter2",
            "password='hunter2",
        ],
    )
    def test_one_that_cannot_be_read_is_not_quoted(self, dsn: str) -> None:
        with pytest.raises(EngineError, match="the DSN cannot be read: write postgresql://") as e:
            read_dsn(dsn)
        assert "hunter" not in str(e.value)
        assert e.value.__cause__ is None
        assert e.value.__suppress_context__ or e.value.__context__ is None

    @pytest.mark.parametrize(
        ("dsn", "variables", "message"),
        [
            ("host=a,b port=1,2,3", {}, "names 3 ports for 2 hosts"),
            ("host=a,b hostaddr=127.0.0.1", {}, "names 2 hosts and 1 addresses"),
            ("hostaddr=127.0.0.1,db", {}, "hostaddr=db: this is no IP address"),
            ("host=a load_balance_hosts=all", {}, "load_balance_hosts=all: write one of disable"),
            ("host=a target_session_attrs=rw", {}, "target_session_attrs=rw: write one of any"),
            ("host=a", {"PGPORT": "1,2"}, "names 2 ports for 1 host:"),
            ("port=1,2", {"PGHOST": "a,b,c"}, "names 2 ports for 3 hosts"),
            ("host=a", {"PGLOADBALANCEHOSTS": "all"}, "load_balance_hosts=all"),
            ("host=a", {"PGTARGETSESSIONATTRS": "rw"}, "target_session_attrs=rw"),
        ],
    )
    def test_a_wrong_list_of_servers_is_refused(
        self,
        monkeypatch: pytest.MonkeyPatch,
        dsn: str,
        variables: dict[str, str],
        message: str,
    ) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(EngineError, match=re.escape(message)):
            read_dsn(dsn)

    @pytest.mark.parametrize(
        "dsn",
        [
            "host=a,b",
            "host=a,b port=1",
            "host=a,b port=1,",
            "host=a,,c hostaddr=,127.0.0.1,",
            "hostaddr=127.0.0.1,::1 port=1,2",
            "host=a,b load_balance_hosts=random target_session_attrs=prefer-standby",
            "postgresql://u@a:1,b:2/d",
        ],
    )
    def test_a_list_of_servers_is_kept(self, dsn: str) -> None:
        kept = conninfo_to_dict(read_dsn(dsn)["dsn"])
        assert kept == conninfo_to_dict(dsn)

    @pytest.mark.parametrize(
        ("dsn", "is_guarded"),
        [
            ("host=db.example", True),
            ("host=db.example sslmode=require", True),
            ("host=db.example sslmode=require sslrootcert=/nosuch", True),
            ("host=db.example sslmode=require sslrootcert=/etc/passwd", False),
            ("host=db.example sslmode=verify-ca", False),
            ("host=db.example sslmode=prefer sslrootcert=/etc/passwd", True),
            ("host=db.example require_auth=password", False),
            ("host=localhost hostaddr=192.0.2.1", True),
            ("host=db.example hostaddr=127.0.0.1", False),
            ("host=localhost,db.example hostaddr=127.0.0.1,", True),
            ("host=localhost,db.example hostaddr=,127.0.0.1", False),
            ("hostaddr=127.0.0.1,192.0.2.1", True),
            ("host=localhost,db.example", True),
            ("host=/run/x,::1,127.0.0.9", False),
            ("", False),
            ("service=away", True),
            ("service=allowing", False),
        ],
    )
    def test_a_password_in_the_clear_is_forbidden_where_it_may_go_to_anyone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dsn: str, is_guarded: bool
    ) -> None:
        services = tmp_path / "services"
        away = "host=db.example\nuser=me\n"
        services.write_text(f"[away]\n{away}\n[allowing]\n{away}require_auth=password\n")
        monkeypatch.setenv("PGSERVICEFILE", str(services))
        monkeypatch.setenv("HOME", str(tmp_path))
        assert (conninfo_to_dict(guarded(dsn)).get("require_auth") == "!password") is is_guarded

    def test_a_password_is_not_told_when_nothing_listens(self) -> None:
        with pytest.raises(EngineError, match=r"u@127\.0\.0\.1:1/d: nothing listens there") as e:
            connect("postgresql://u:hunter2@127.0.0.1:1/d", "a test")
        assert "hunter2" not in str(e.value)


class TestConfiguration:
    def test_what_is_written_is_read_by_the_server_as_it_was(self, tmp_path: Path) -> None:
        file = tmp_path / "x.conf"
        write_configuration(file, {"a": "it's", "b": "c:\\d", "e": "1\n2"}, include=tmp_path / "y")
        lines = file.read_text().splitlines()
        assert lines == [f"include '{tmp_path}/y'", "a = 'it''s'", "b = 'c:\\\\d'", "e = '1 2'"]
        assert file.stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize("name", ["run.conf", "load.conf"])
    def test_every_setting_of_ours_has_its_reason(self, name: str) -> None:
        lines = (CONF / name).read_text().splitlines()
        assert read_configuration(CONF / name)
        reasons = 0
        for before, line in zip(["", *lines], lines, strict=False):
            if "=" in line and not line.startswith("#"):
                assert before.startswith("#") or "=" in before
                reasons += before.startswith("#")
        assert reasons

    def test_what_a_version_does_not_know_is_left_out(self, tmp_path: Path) -> None:
        programs = the_programs(tmp_path, r"printf 'timezone\tx\nmax_connections\tx\n'")
        names = set(default_settings(programs))
        assert "shared_preload_libraries" not in names
        assert {"timezone", "max_connections", "shared_buffers"} <= names
        assert "track_wal_io_timing" not in names

    @pytest.mark.parametrize("name", [*OURS, "PORT"])
    def test_what_is_ours_to_set_is_refused(self, engine: PostgresEngine, name: str) -> None:
        with pytest.raises(EngineError, match=f"Assay itself sets {name}"):
            engine.check_settings(Product("18.6", Path("/nowhere")), {name: "1"})

    def test_a_socket_fits_or_not(self) -> None:
        name = "/.s.PGSQL.65535"
        longest = "/" + "x" * (SOCKET_PATH_BYTES_MAX - len(name) - 2)
        assert len(os.fsencode(longest + name)) == SOCKET_PATH_BYTES_MAX - 1
        assert socket_fits(Path(longest))
        assert not socket_fits(Path(longest + "x"))


class TestPrograms:
    @pytest.mark.parametrize(
        "place", [".", "bin", "pgserver/pginstall/bin", "usr/lib/postgresql/15/bin"]
    )
    def test_they_are_found_wherever_a_provider_puts_them(self, tmp_path: Path, place: str) -> None:
        directory = tmp_path / place
        directory.mkdir(parents=True, exist_ok=True)
        for name in ("postgres", "initdb"):
            (directory / name).write_text("x")
        assert find_programs(tmp_path).bin_dir == directory

    def test_a_directory_without_them_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(EngineError, match=r"has no `postgres` with `initdb` .*--bin-dir"):
            find_programs(tmp_path)

    def test_their_version_is_without_what_a_distribution_adds(self, tmp_path: Path) -> None:
        programs = the_programs(tmp_path, "echo 'postgres (PostgreSQL) 15.20 (Debian 15.20-0)'")
        assert programs.version() == "15.20"

    @pytest.mark.parametrize("script", ["echo 'libx.so: cannot open' >&2; exit 127", "echo 7"])
    def test_programs_that_do_not_run_are_told(self, tmp_path: Path, script: str) -> None:
        with pytest.raises(EngineError, match=r"does not run on this host.*--bin-dir"):
            the_programs(tmp_path, script).version()

    def test_programs_of_another_machine_are_told(self, tmp_path: Path) -> None:
        programs = the_programs(tmp_path, "")
        (programs.bin_dir / "postgres").write_bytes(b"\x7fELF of another machine")
        with pytest.raises(EngineError, match="does not run on this host"):
            programs.version()


class TestCounters:
    @pytest.mark.parametrize("file", SOURCES, ids=lambda file: file.stem)
    def test_each_says_why_it_is_there_and_from_when(self, file: Path) -> None:
        source = read_source(file)
        assert file.read_text().startswith("-- why: ")
        assert source.since in MAJORS
        assert source.fits(source.since, {"pg_stat_statements", "pg_buffercache"})
        assert not source.fits(source.since - 1, {"pg_stat_statements", "pg_buffercache"})

    def test_one_that_needs_an_extension_waits_for_it(self) -> None:
        source = read_source(CONF / "counters" / "statements.sql")
        assert not source.fits(18, set())
        assert source.fits(18, {"pg_stat_statements"})

    def test_a_version_may_be_the_last(self, tmp_path: Path) -> None:
        file = tmp_path / "old.sql"
        file.write_text("-- why: x\n-- from: 13\n-- until: 16\nselect 1\n")
        assert [read_source(file).fits(major, set()) for major in (13, 16, 17)] == [1, 1, 0]


class TestCore:
    """What the compiled core is asked for."""

    def test_rows_are_copied_over_the_instances_address(
        self, engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[Any] = []
        monkeypatch.setattr(
            module._core, "postgres_copy", lambda *given: asked.append(given), raising=False
        )
        rows: Any = object()
        engine.load(Instance({}, None, address={"dsn": "host=h"}), "t", rows, 8)
        assert asked == [("host=h", "t", rows, 8)]

    def test_a_load_that_fails_names_its_table(
        self, engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: Any) -> None:
            raise OSError("the server went away")

        monkeypatch.setattr(module._core, "postgres_copy", refuse, raising=False)
        rows: Any = object()
        with pytest.raises(EngineError, match="table t cannot be loaded: the server went away"):
            engine.load(Instance({}, None, address={"dsn": "host=h"}), "t", rows, 8)

    def test_there_is_a_session_for_every_client(
        self, engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made: list[Any] = []
        monkeypatch.setattr(
            module._core, "PostgresSession", lambda *given: made.append(given), raising=False
        )
        script = Script((ScriptOperation("one", (ScriptStatement("select 1"),)),))
        sessions = engine.sessions(Instance({}, None, address={"dsn": "host=h"}), script, 7, 3)
        assert len(sessions) == 3
        assert [given[3] for given in made] == [0, 1, 2]
        assert {(given[0], given[2]) for given in made} == {("host=h", 7)}
        assert '"select 1"' in made[0][1]
