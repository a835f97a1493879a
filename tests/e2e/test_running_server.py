"""A server that runs already: measured as a guest, who leaves it as it was found."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest

from assay.analysis.host.accounts import accounts_window
from assay.analysis.host.timeline import origin_ns, timeline
from assay.analysis.operations import window_ns
from assay.record.reader import Run
from tests.e2e.conftest import (
    PATIENCE_S,
    SMALL,
    Lab,
    end,
    reachable_directory,
    server_laboratory,
    wait_for_phase,
    wait_until,
)
from tests.e2e.server import (
    CONNECTIONS_MAX,
    DATABASE,
    HOST,
    PASSWORD,
    RunningServer,
    running_server,
)
from tests.e2e.test_plans import assert_all_are_whole
from tests.unit.test_one_account import drawn_s

ENGINE = ["--engine", "postgresql"]
BRIEF = ["--min-time", "100ms"]
OURS = "select nspname from pg_namespace where nspname like 'assay%'"
TABLES = "select relname from pg_class where relkind = 'r' order by 1"
FINGERPRINT = "select md5(string_agg(c::text, ',' order by id)) from customers as c"


def url_of(server: RunningServer, user: str = "owner") -> str:
    return f"postgresql://{user}:{quote(PASSWORD, safe='')}@{HOST}:{server.port}/{DATABASE}"


def folder_of(place: Path, **operations: str) -> Path:
    """A stranger's folder of queries."""
    folder = place / "queries"
    folder.mkdir()
    for name, text in operations.items():
        (folder / f"{name}.sql").write_text(text)
    return folder


def assert_is_nowhere_within(password: str, place: Path) -> None:
    """Neither as it is, nor as a URL has it."""
    # Its ends, too: they stay where something was blotted out up to a letter within.
    parts = (password, quote(password, safe=""), password[:6], password[-5:])
    secrets = {part.encode() for part in parts}
    for file in place.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert not any(word in content for word in secrets), file


def outcomes(document: dict) -> dict[str, str]:
    return {operation["name"]: operation["outcome"] for operation in document["operations"]}


@pytest.fixture
def guest(server, server_lab, monkeypatch) -> Lab:
    """A laboratory; what it did not find, it must not leave."""
    fingerprint = server.asked(FINGERPRINT)
    yield server_lab
    server_lab.close()
    server_lab.assert_nothing_left()
    assert server.asked(OURS) == []
    assert server.asked(FINGERPRINT) == fingerprint
    assert_is_nowhere_within(PASSWORD, server_lab.root / "state")


@pytest.fixture(scope="module")
def measured(server, server_place):
    """One run of TPC-H on the server, that several tests look at."""
    with server_laboratory(server_place) as lab:
        lab.extra_env["PGPASSWORD"] = PASSWORD
        before = [server.asked(text) for text in (TABLES, FINGERPRINT, OURS)]
        dsn = f"postgresql://owner@{HOST}:{server.port}/{DATABASE}"
        document = lab.document("run", "tpch", "--dsn", dsn, *SMALL)
        after = [server.asked(text) for text in (TABLES, FINGERPRINT, OURS)]
        assert after == before
        yield lab, document


def test_all_answers_are_right_and_our_schema_is_gone(measured, server):
    _, document = measured
    answers = {check["check"]: check for check in document["checks"]}["answers"]
    assert answers["verdict"] == "valid", answers
    assert "22 of 22" in answers["reason"]
    assert server.asked(OURS) == []
    assert server.alive()


def test_it_was_asked_for_all_plans(measured):
    lab, document = measured
    assert_all_are_whole(document, 22)
    lab.assert_nothing_left()


def test_the_servers_processes_are_found_and_have_a_cost(measured, server):
    _, document = measured
    environment = json.loads((Path(document["path"]) / "environment.json").read_text())
    assert environment["accounts"][str(server.pid)] == "engine"
    assert document["accounts"]["by_account_s"]["engine"] > 0
    assert document["probes"]["each"]["engine"]["error"] is None


def test_the_password_is_in_no_file(measured, server):
    lab, document = measured
    assert_is_nowhere_within(PASSWORD, Path(document["path"]))
    lab.assert_nothing_left()
    assert PASSWORD not in server.log.read_text()


@pytest.mark.parametrize("form", ["url", "keywords"])
def test_a_strangers_folder_is_measured(guest, server, tmp_path, form):
    folder = folder_of(
        tmp_path, count="select count(*) from customers", sum="select sum(id) from customers"
    )
    dsn = (
        ("--dsn", url_of(server))
        if form == "url"
        else ("--engine", "postgresql", "--dsn", server.dsn())
    )
    document = guest.document("run", str(folder), *dsn, *BRIEF)
    assert outcomes(document) == {"count": "ok", "sum": "ok"}
    told = {check["check"]: check for check in document["checks"]}["answers"]
    assert (told["verdict"], told["measured"]) == ("valid", False)
    assert (
        f"Store the answers for the next runs with: assay answers {folder} --dsn" in told["reason"]
    )
    assert_is_nowhere_within(PASSWORD, Path(document["path"]))


def test_settings_are_those_of_our_sessions(guest, server, tmp_path):
    guest.extra_env["PGPASSWORD"] = PASSWORD
    folder = folder_of(tmp_path, memory="select current_setting('work_mem') = '12345kB'")
    dsn = f"postgresql://owner@{HOST}:{server.port}/{DATABASE}"
    run = ["run", str(folder), "--dsn", dsn, *BRIEF]
    guest.document(*run, "--set", "work_mem=12345kB")
    (result,) = Run(guest.latest()).results("memory")
    assert pl.read_ipc(result[1]).row(0) == (True,)
    refused_run = guest.assay(*run, "--set", "shared_buffers=1GB")
    assert refused_run.returncode == 1
    assert "the server's own configuration" in refused_run.stderr


PARALLEL = ("min_parallel_table_scan_size=0", "parallel_setup_cost=0", "parallel_tuple_cost=0")
PAIRS = (
    "select count(*) from customers as a join customers as b on a.id + b.id > 5"
    " join generate_series(1, 6) as c (n) on true"
)


def test_header_chart_and_table_tell_the_same_cpu_time(guest, server, tmp_path):
    """Workers of short queries end between samples; they are the session's, and nobody's else."""
    settings = [word for text in PARALLEL for word in ("--set", text)]
    folder = folder_of(tmp_path, pairs=PAIRS)
    run = ("run", str(folder), "--dsn", url_of(server), "--min-time", "3s", *settings)
    document = guest.document(*run)
    accounts, table = document["accounts"], document["sessions"]
    engine_s = accounts["by_account_s"]["engine"]
    assert table["cpu_s"] == pytest.approx(engine_s, rel=0.02)
    # On a host that others use, too few workers may be known to say whose the others were.
    assert not (table["ended_seen"] and table["unseen_cpu_s"])
    assert table["other_clients"] == []
    assert table["shares"]["sessions"] + table["shares"]["unseen"] > 0.9
    run_read = Run(Path(document["path"]))
    samples = (run_read.table(name) for name in ("cpus", "processes"))
    first, last = accounts_window(*samples, *window_ns(run_read.table("events")))
    drawn, zero_ns = timeline(run_read).cpu, origin_ns(run_read.table("events"))
    begun_s, ended_s = ((edge - zero_ns) / 1e9 for edge in (first, last))
    told = {"engine": engine_s, "background": accounts["background_s"]}
    # The chart's ticks are no edges of the window: it is off by part of one at each end.
    slack_s = (
        2 * accounts["cpus"] * run_read.table("cpus")["time_ns"].unique().sort().diff().max() / 1e9
    )
    for account, cpu_s in told.items():
        assert drawn_s(drawn, account, begun_s, ended_s) == pytest.approx(cpu_s, abs=slack_s)


def test_a_schema_that_is_not_ours_is_not_touched(guest, server):
    name = "assay_point_select_0_01"
    server.asked(f"create schema {name}")
    server.asked(f"create table {name}.theirs (n integer)")
    result = guest.assay("run", "point-select", "--scale", "0.01", "--dsn", url_of(server))
    there = server.asked("table assay_point_select_0_01.theirs")
    server.asked(f"drop schema {name} cascade")
    assert there == []
    assert result.returncode != 0
    assert name in result.stderr
    assert "Assay did not create" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("postgresql://owner@127.0.0.1:{port}/shop?colour=red", ["cannot be read"]),
        ("postgresql://owner@127.0.0.1:http/shop", ["port"]),
        ("postgresql://owner:wr0ng-pass@127.0.0.1:{port}/shop", ["does not accept", "PGPASSWORD"]),
        ("postgresql://owner@127.0.0.1:{port}/shop", ["wants a password", "PGPASSFILE"]),
        ("postgresql://owner:wr0ng-pass@127.0.0.1:1/shop", ["nothing listens there"]),
        ("postgresql://trusted@127.0.0.1:{port}/shpo", ["no such database", "shpo"]),
        (
            "oracle://owner:wr0ng-pass@127.0.0.1/shop",
            ["no engine supports the scheme of --dsn", "postgresql://"],
        ),
        ("shop", ["no engine supports the scheme of --dsn", "--engine"]),
    ],
)
def test_a_server_that_cannot_be_reached_is_told_apart(guest, server, said, message):
    guest.extra_env |= {"HOME": str(guest.root), "PGPASSFILE": str(guest.root / "none")}
    result = guest.assay("run", "tpch", "--dsn", said.format(port=server.port), *SMALL)
    assert result.returncode == 1, result.stderr
    assert all(word in result.stderr for word in message), result.stderr
    assert "wr0ng-pass" not in result.stderr
    assert "Traceback" not in result.stderr
    assert not guest.runs.exists() or not list(guest.runs.iterdir())


def test_more_clients_than_the_server_takes_is_told(guest, server, tmp_path):
    folder = folder_of(tmp_path, only="select 1")
    (folder / "workload.toml").write_text('arrival = "closed"\n')
    clients = ("--clients", str(CONNECTIONS_MAX + 30), "--time", "1s", "--warmup", "0s")
    result = guest.assay("run", str(folder), "--dsn", url_of(server), *clients)
    assert result.returncode == 2, result.stderr
    assert "--clients" in result.stderr
    assert "max_connections" in result.stderr
    assert "Traceback" not in result.stderr
    assert server.alive()
    wait_until(lambda: not server.sessions("assay%"), "sessions are left on the server")


def test_an_operation_over_its_time_is_cancelled_on_the_server(guest, server, tmp_path):
    folder = folder_of(tmp_path, sleep="select pg_sleep(600)", quick="select 1")
    arguments = ("--dsn", url_of(server), *BRIEF, "--timeout", "50ms")
    document = guest.document("run", str(folder), *arguments, code=3)
    assert outcomes(document) == {"sleep": "failed", "quick": "ok"}
    operations = {operation["name"]: operation for operation in document["operations"]}
    assert operations["sleep"]["error"] == "deadline"
    wait_until(lambda: not server.busy(), "a statement runs on")


def test_what_cannot_be_executed_is_named_before_anything_is_played(guest, server, tmp_path):
    folder = folder_of(
        tmp_path,
        a="select 1",
        b="-- a typo\nselect id,\n  nmae\nfrom customers",
        c="select * from custmers; select * from hidden",
        d="selec 1",
    )
    server.asked("create table hidden (n integer)")
    try:
        told = guest.assay("run", str(folder), "--dsn", url_of(server), *BRIEF)
    finally:
        server.asked("drop table hidden")
    assert told.returncode == 1, told.stderr
    lines = told.stderr.splitlines()
    assert "4 of 5 statements" in lines[0]
    assert [line.strip().removeprefix(f"{folder}/") for line in lines[1:]] == [
        'b.sql:3: column "nmae" does not exist; the nearest name is "name" of table customers',
        'c.sql:1: relation "custmers" does not exist; the nearest name is "customers"',
        (
            "c.sql:1: permission denied for table hidden;"
            " what is missing: grant select on hidden to owner"
        ),
        'd.sql:1: syntax error at or near "selec"',
    ]
    assert not guest.runs.exists() or not list(guest.runs.iterdir())


def test_one_failing_query_of_several_is_named_and_the_others_are_measured(guest, server, tmp_path):
    folder = folder_of(
        tmp_path, a="select 1", b="select 1 / (id - id) from customers", c="select 2"
    )
    document = guest.document("run", str(folder), "--dsn", url_of(server), *BRIEF, code=3)
    assert outcomes(document) == {"a": "ok", "b": "failed", "c": "ok"}
    assert document["verdict"] == "invalid"
    reason = {check["check"]: check["reason"] for check in document["checks"]}["outcomes"]
    assert all(word in reason for word in ("b", "22012", "division")), reason


def test_a_server_without_room_for_its_own_files_is_told(guest, server, tmp_path):
    folder = folder_of(tmp_path, spill="select n from generate_series(1, 500000) as n order by -n")
    server.asked("alter role owner set temp_file_limit = '1MB'")
    server.asked("alter role owner set work_mem = '64kB'")
    try:
        document = guest.document("run", str(folder), "--dsn", url_of(server), *BRIEF, code=3)
    finally:
        server.asked("alter role owner reset all")
    assert document["operations"][0]["error"] == "53400"
    reason = {check["check"]: check["reason"] for check in document["checks"]}["outcomes"]
    assert "temp_file_limit" in reason


def test_ctrl_c_in_a_long_query_ends_it_on_the_server(guest, server, tmp_path):
    folder = folder_of(tmp_path, a="select 1", long="select pg_sleep(600)")
    started = guest.begin("run", str(folder), "--dsn", url_of(server))
    wait_until(lambda: _sleeping(server), "it never began")
    code, errors = end(started)
    assert code == 2
    assert "Ctrl-C" in errors
    assert "Traceback" not in errors
    wait_until(lambda: not _sleeping(server), "the query runs on")
    assert guest.status() == "interrupted"


def _sleeping(server: RunningServer) -> bool:
    return any("pg_sleep" in query for _, query in server.busy())


def test_ctrl_c_while_loading_drops_our_schema(guest, server):
    started = guest.begin("run", "tpch", "--scale", "1", "--dsn", url_of(server))
    wait_until(lambda: _copying(server), "nothing is copied into the server")
    code, errors = end(started)
    assert code == 2, errors
    assert "Traceback" not in errors
    wait_until(lambda: not _copying(server), "rows are still copied")


def _copying(server: RunningServer) -> bool:
    return any("copy" in query.lower() for _, query in server.busy())


def test_a_killed_run_leaves_no_session_and_the_next_removes_its_schema(guest, server):
    load = ("--scale", "0.01", "--dsn", url_of(server), "--warmup", "100ms")
    started = guest.begin("run", "point-select", *load, "--time", "10m")
    wait_for_phase(guest, started, "measured")
    end(started, signal.SIGKILL)
    wait_until(lambda: not server.sessions("assay%"), "sessions are left on the server")
    assert len(server.asked(OURS)) == 1
    guest.document("run", "point-select", *load, "--time", "1s")
    assert server.asked(OURS) == []


def test_tables_that_were_kept_are_used_and_left_by_the_next_run(guest, server):
    arguments = ("--scale", "0.01", "--dsn", url_of(server), "--time", "1s", "--warmup", "0s")
    guest.document("run", "point-select", *arguments, "--keep-data")
    ((left,),) = server.asked(OURS)
    tables = "select oid from pg_class where relnamespace = %s::regnamespace"
    made = server.asked(tables, left)
    next_one = guest.document("run", "point-select", *arguments)
    rows = server.asked(f'table "{left}".entries')
    left_tables = server.asked(tables, left)
    server.asked(f'drop schema "{left}" cascade')
    assert next_one["metrics"]["operations"] > 0
    assert left_tables == made
    assert len(rows) == 1000


def test_tables_without_foreign_keys_are_not_taken_for_those_with_them(guest, server):
    load = ("run", "tpcc", "--dsn", url_of(server), "--time", "1s", "--warmup", "0s", "--keep-data")
    of_schema = "contype = 'f' and connamespace = %s::regnamespace"
    there = f"select count(*) from pg_constraint where {of_schema}"  # noqa: S608
    guest.document(*load)
    ((left,),) = server.asked(OURS)
    plain = server.asked(there, left)
    guest.document(*load, "--foreign-keys")
    linked = server.asked(there, left)
    server.asked(f'drop schema "{left}" cascade')
    assert (plain, linked) == ([(0,)], [(10,)])


def test_of_two_runs_at_once_the_second_is_refused_and_the_first_goes_on(guest, server):
    load = ("point-select", "--scale", "0.01", "--dsn", url_of(server), "--warmup", "0s")
    # At a rate: a closed loop would be busy for all that time, and no more would be seen.
    first = guest.begin("run", *load, "--time", "12s", "--rate", "20")
    run = wait_for_phase(guest, first, "measured")
    second = guest.assay("run", *load, "--time", "1s")
    _, errors = first.communicate(timeout=PATIENCE_S)
    assert second.returncode != 0
    assert "another run uses" in second.stderr
    assert "Traceback" not in second.stderr
    assert first.returncode == 0, errors
    document = guest.document("show", str(run))
    assert document["operations"][0]["failed"] == 0


def test_a_full_disk_under_the_record_is_told_and_the_server_goes_on(guest, server, tmp_path):
    folder, small = folder_of(tmp_path, only="select 1"), tmp_path / "small"
    small.mkdir()
    script = 'mount -t tmpfs -o size=1m none "$0" && exec "$@"'
    prefix = ("unshare", "--mount", "--map-root-user", "sh", "-c", script, str(small))
    arguments = ("run", str(folder), "--dsn", url_of(server), "--min-time", "10m")
    result = guest.assay(*arguments, "--runs", str(small), prefix=prefix)
    assert result.returncode == 2, result.stderr
    assert "No space left" in result.stderr
    assert "Traceback" not in result.stderr
    assert server.alive()
    wait_until(lambda: not server.sessions("assay%"), "sessions are left on the server")


def test_a_server_that_ends_is_told_and_what_was_measured_is_kept(guest, server, tmp_path):
    folder = folder_of(tmp_path, only="select 1")
    (folder / "workload.toml").write_text('arrival = "closed"\n')
    load = ("--clients", "2", "--warmup", "0s", "--time", "10m")
    started = guest.begin("run", str(folder), "--dsn", url_of(server), *load)
    run = wait_for_phase(guest, started, "measured")
    cut = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'assay'"
    assert server.asked(cut) == [(True,), (True,)]
    wait_until(lambda: Run(run).table("backends").height == 4, "nobody connected anew")
    code, _ = end(started)
    assert code == 2
    document = guest.document("show", "latest", code=3)
    assert 1 <= document["operations"][0]["failed"] <= 2


def test_a_killed_run_ends_its_query_on_the_server(guest, server, tmp_path):
    folder = folder_of(tmp_path, long="select pg_sleep(600)")
    started = guest.begin("run", str(folder), "--dsn", url_of(server))
    wait_until(lambda: _sleeping(server), "it never began")
    end(started, signal.SIGKILL)
    wait_until(lambda: not _sleeping(server), "the query runs on")


def test_ctrl_c_in_a_statement_of_the_load_ends_it_on_the_server(guest, server, tmp_path):
    folder = folder_of(tmp_path, only="select 1")
    (folder / "workload.toml").write_text('setup = ["schema/slow.sql"]\n')
    (folder / "schema").mkdir()
    (folder / "schema" / "slow.sql").write_text(
        "create table slow as select 1 as n from pg_sleep(600)"
    )
    started = guest.begin("run", str(folder), "--dsn", url_of(server))
    wait_until(lambda: _sleeping(server), "it never began")
    code, errors = end(started)
    assert code == 2, errors
    assert "Ctrl-C" in errors
    assert "Traceback" not in errors
    wait_until(lambda: not _sleeping(server), "the statement runs on")


def test_ctrl_c_before_the_first_phase_ends_the_condition_on_the_server(guest, server, tmp_path):
    folder = folder_of(tmp_path, only="select 1", slow="select 1 from pg_sleep(600)")
    (folder / "workload.toml").write_text(
        'arrival = "closed"\norder = ["only"]\nbefore = ["slow"]\n'
    )
    started = guest.begin("run", str(folder), "--dsn", url_of(server), "--clients", "2")
    wait_until(lambda: _sleeping(server), "it never began")
    code, errors = end(started)
    assert code == 2, errors
    assert "Ctrl-C" in errors
    assert "Traceback" not in errors
    wait_until(lambda: not _sleeping(server), "the condition runs on")
    assert guest.status() == "interrupted"
    assert guest.document("show", "latest")["verdict"] == "unknown"


def test_a_server_that_dies_is_told_once_and_what_was_measured_is_kept(server_lab, server_place):
    with (
        reachable_directory() as folder,
        running_server(server_place / "cache", folder) as dying,
    ):
        load = ("--scale", "0.01", "--dsn", url_of(dying), "--warmup", "0s", "--time", "10m")
        started = server_lab.begin("run", "point-select", *load)
        wait_for_phase(server_lab, started, "measured")
        os.kill(dying.pid, signal.SIGQUIT)
        _, errors = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 2, errors
    assert "Traceback" not in errors
    said, kept = [line for line in errors.splitlines() if line.startswith("assay: ")]
    assert f"PostgreSQL ended unexpectedly: its process {dying.pid} ended" in said
    assert f"assay show {server_lab.latest()}" in kept
    log = (server_lab.latest() / "raw" / "assay.log").read_text()
    assert "may remain on the server; the next run removes it" in log
    assert server_lab.status() == "failed"
    document = server_lab.document("show", "latest", code=3)
    assert document["metrics"]["operations"] > 0
