"""One's own tables in a file of SQLite or DuckDB: from slow statements to a change that helps."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import duckdb
import pytest

from assay.running.changes.undo import Journal, Step
from assay.running.server.instances import identity
from tests.e2e.conftest import Lab, wait_until
from tests.e2e.test_running_server import folder_of
from tests.e2e.test_try import advice, tried

BRIEF = ("--min-time", "100ms", "--probes", "none")
SALES = """
create table orders (order_id integer primary key, customer_id integer, note text);
create table days (day text);
insert into days values ('monday'), ('tuesday');
with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000)
insert into orders select i, i % 20000, printf('%.80c', 'x') from n;
"""
# Statistics from a time when a status said more than a customer: they choose the wrong index.
OUTGROWN = """
create table orders (order_id integer primary key, customer_id integer, status integer, note text);
create index by_customer on orders (customer_id);
create index by_status on orders (status);
create table days (day text);
create index by_day on days (day);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 50)
insert into orders select i, 1, i, 'x' from n;
insert into days values ('monday');
analyze;
with recursive n(i) as (select 51 union all select i + 1 from n where i < 60000)
insert into orders select i, i % 20000, i % 2, printf('%.80c', 'x') from n;
"""
# Without statistics a state, which all orders have, is taken to find few of them.
UNKNOWN = """
create table customers (id integer primary key, region integer);
create table orders (id integer primary key, customer_id integer, state integer, day integer);
create index by_state on orders (state);
create index by_customer on orders (customer_id);
create index by_region on customers (region);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
insert into customers select i, case when i % 1000 = 0 then 7 else i % 3 end from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000)
insert into orders select i, i % 10000, 1, i % 365 from n;
"""
MAKE = 'create index "assay_orders_customer_id" on "orders" ("customer_id");'
KEY, STALE = "missing-index:by_customer", "stale-statistics:late"
INDEXES = "select name from sqlite_schema where type = 'index' order by 1"
SUMS = "select count(*), sum(order_id), sum(customer_id), max(note) from orders"
STATISTICS = "select tbl, idx, stat from sqlite_stat1 order by 1, 2"


class File:
    """A database file of SQLite that somebody else made."""

    def __init__(self, path: Path, sql: str, journal_mode: str = "delete") -> None:
        self.path = path
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"pragma journal_mode = {journal_mode}")
            connection.executescript(sql)

    @property
    def dsn(self) -> str:
        return f"sqlite:{self.path}"

    def asked(self, sql: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            return connection.execute(sql).fetchall()

    def is_seen_with_index(self) -> bool:
        """Whether an index is there now; false while a writer keeps readers out."""
        try:
            return bool(self.asked(INDEXES))
        except sqlite3.OperationalError:
            return False

    def state(self) -> tuple[str, int, list[str]]:
        """Bytes and time of the last change, and the files beside it."""
        digest = hashlib.sha256(self.path.read_bytes()).hexdigest()
        names = sorted(path.name for path in self.path.parent.iterdir())
        return digest, self.path.stat().st_mtime_ns, names


def file_of(place: Path, sql: str, journal_mode: str = "delete") -> File:
    place.mkdir()
    return File(place / "shop.db", sql, journal_mode)


def finding_of(document: dict, key: str) -> dict:
    return next(finding for finding in document["findings"] if finding["key"] == key)


def one_line(sql: str) -> str:
    return " ".join(sql.split())


def journals_of(lab: Lab) -> list[Path]:
    return list((lab.root / "state" / "assay" / "changes").glob("*.json"))


@pytest.fixture(scope="module")
def journey(tmp_path_factory) -> Iterator[tuple[Lab, File, tuple[str, ...], dict]]:
    """A laboratory with one run of two statements, of which one lacks an index."""
    root = tmp_path_factory.mktemp("files")
    folder = folder_of(
        root,
        by_customer="select order_id from orders where customer_id = 4711",
        days="select count(*) from days",
    )
    file = file_of(root / "shop", SALES)
    asked = (str(folder), "--dsn", file.dsn, *BRIEF)
    with closing(Lab(root)) as lab:
        yield lab, file, asked, lab.document("run", *asked)


def test_a_run_writes_nothing_into_the_file_and_leaves_nothing_beside_it(journey, tmp_path):
    lab, _, asked, _ = journey
    file = file_of(tmp_path / "shop", SALES)
    before = file.state()
    lab.document("run", asked[0], "--dsn", file.dsn, *BRIEF, "--runs", str(tmp_path / "runs"))
    assert file.state() == before


def test_of_a_file_with_a_write_ahead_log_only_the_empty_log_of_a_reader_stays(journey, tmp_path):
    lab, _, asked, _ = journey
    file = file_of(tmp_path / "shop", SALES, "wal")
    *before, _ = file.state()
    lab.document("run", asked[0], "--dsn", file.dsn, *BRIEF, "--runs", str(tmp_path / "runs"))
    *after, names = file.state()
    assert after == before
    assert names == ["shop.db", "shop.db-shm", "shop.db-wal"]
    assert file.path.with_name("shop.db-wal").stat().st_size == 0


def test_the_cause_has_a_statement_to_paste_and_one_to_undo_it(journey):
    *_, document = journey
    change = finding_of(document, KEY)["change"]
    assert one_line(change["sql"]) == MAKE
    assert one_line(change["undo"]) == 'drop index if exists "assay_orders_customer_id";'
    assert "reads the table once" in change["costs"]


def test_without_leave_nothing_is_done_and_the_statement_is_shown(journey):
    lab, file, _, document = journey
    before, runs = file.state(), sorted(lab.runs.iterdir())
    refused = lab.assay("try", document["run"], KEY)
    assert refused.returncode == 1
    assert f"this changes the file {file.path}" in refused.stderr
    assert MAKE in refused.stderr
    assert file.state() == before
    assert sorted(lab.runs.iterdir()) == runs


def test_with_leave_it_is_made_measured_and_taken_back(journey):
    lab, file, _, document = journey
    rows = file.asked(SUMS)
    tried = lab.document("try", document["run"], KEY, "--allow-changes", "--repeat", "1")
    (operation,) = [row for row in tried["operations"] if row["operation"] == "by_customer"]
    assert operation["gain"]["share"] > 0.5
    assert file.asked(INDEXES) == []
    assert file.asked(SUMS) == rows
    assert journals_of(lab) == []


def test_the_same_command_after_the_change_shows_every_operation_before_and_after(journey):
    lab, file, asked, _ = journey
    file.asked(MAKE)
    try:
        after = lab.assay("run", *asked)
    finally:
        file.asked('drop index "assay_orders_customer_id"')
    assert after.returncode == 0, after.stderr
    shown = after.stderr.partition("Before and after")[2]
    assert "days" in shown
    assert "times as fast" in shown
    assert "assay_orders_customer_id" in one_line(shown)


def test_killed_with_the_change_made_it_is_taken_back(journey):
    lab, file, _, document = journey
    begun = lab.begin("try", document["run"], KEY, "--allow-changes", "--again", "--repeat", "1")
    wait_until(file.is_seen_with_index, "the index")
    os.kill(begun.pid, signal.SIGKILL)
    begun.communicate()
    lab.assert_nothing_left()
    assert file.asked(INDEXES) == []
    assert journals_of(lab) == []


def test_the_next_run_takes_back_what_stayed_when_all_processes_were_killed(journey):
    lab, file, asked, document = journey
    begun = lab.begin("try", document["run"], KEY, "--allow-changes", "--again", "--repeat", "1")
    wait_until(file.is_seen_with_index, "the index")
    os.kill(begun.pid, signal.SIGSTOP)
    strays = lab.strays()
    # Those that would take it back first: whoever else is left of them ends by that.
    for pid in sorted(strays, key=lambda pid: pid not in lab.titled("guardian")):
        # Some end by themselves when another is killed.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    begun.communicate()
    wait_until(lambda: not lab.strays(), "processes left")
    assert file.is_seen_with_index()
    assert len(journals_of(lab)) == 1
    lab.document("run", *asked)
    assert file.asked(INDEXES) == []
    assert journals_of(lab) == []


def test_a_file_with_a_change_of_another_run_is_not_measured(journey):
    lab, file, asked, _ = journey
    journal = Journal(lab.root / "state" / "assay" / "changes" / "another-run.json", identity())
    journal.note(Step("run_sql", str(file.path), "an index", "{}"))
    try:
        refused = lab.assay("run", *asked)
    finally:
        journal.path.unlink()
    assert refused.returncode == 2
    assert f"{file.path} is in use by the run another-run" in refused.stderr


def test_what_is_kept_stays_and_is_not_made_or_dropped_again(journey, tmp_path):
    lab, _, asked, _ = journey
    file = file_of(tmp_path / "shop", SALES)
    document = lab.document("run", asked[0], "--dsn", file.dsn, *BRIEF)
    arguments = ("try", document["run"], KEY, "--allow-changes", "--repeat", "1")
    lab.document(*arguments, "--keep")
    assert file.asked(INDEXES) == [("assay_orders_customer_id",)]
    again = lab.assay(*arguments, "--again")
    assert again.returncode == 1
    assert "already exists" in again.stderr
    assert file.asked(INDEXES) == [("assay_orders_customer_id",)]


def test_statistics_are_gathered_measured_and_the_former_ones_put_back(journey, tmp_path):
    lab, *_ = journey
    file = file_of(tmp_path / "shop", OUTGROWN)
    folder = folder_of(
        tmp_path,
        late="select sum(length(note)) from orders where customer_id = 4711 and status = 1",
    )
    before, statistics = file.state(), file.asked(STATISTICS)
    document = lab.document("run", str(folder), "--dsn", file.dsn, *BRIEF)
    assert file.state() == before
    change = finding_of(document, STALE)["change"]
    assert one_line(change["sql"]) == 'analyze "orders";'
    assert "delete from sqlite_stat1 where tbl = 'orders';" in change["undo"]
    tried = lab.document("try", document["run"], STALE, "--allow-changes", "--repeat", "1")
    (operation,) = tried["operations"]
    assert operation["gain"]["share"] > 0.5
    assert file.asked(STATISTICS) == statistics


def test_statistics_of_a_join_are_gathered_and_a_file_without_any_has_none_afterwards(
    journey, tmp_path
):
    lab, *_ = journey
    file = file_of(tmp_path / "shop", UNKNOWN)
    joined = (
        "select sum(o.day) from orders as o join customers as c on c.id = o.customer_id"
        " where o.state = 1 and c.region = 7"
    )
    folder = folder_of(tmp_path, joined=joined)
    objects = file.asked("select type, name from sqlite_master order by 1, 2")
    # Beside other tests, a shorter run may wait for a CPU most of its time.
    longer = ("--min-time", "1s", "--probes", "none")
    document = lab.document("run", str(folder), "--dsn", file.dsn, *longer)
    key = "stale-statistics:joined"
    change = finding_of(document, key)["change"]
    assert sorted(change["sql"].splitlines()) == ['analyze "customers";', 'analyze "orders";']
    tried = lab.document("try", document["run"], key, "--allow-changes", "--repeat", "1")
    (operation,) = tried["operations"]
    assert operation["gain"]["share"] > 0.5
    assert file.asked("select type, name from sqlite_master order by 1, 2") == objects


def test_an_index_of_a_duckdb_file_is_tried_and_taken_back(journey, tmp_path):
    lab, *_ = journey
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            "create table orders as select i as order_id, (i * 7919) % 200000 as customer_id,"
            " repeat('x', 80) as note from range(2000000) as n (i)"
        )
    folder = folder_of(tmp_path, by_customer="select order_id from orders where customer_id = 4711")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    document = lab.document("run", str(folder), "--dsn", f"duckdb:{path}", *BRIEF)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    assert one_line(finding_of(document, KEY)["change"]["sql"]) == MAKE
    tried = lab.document("try", document["run"], KEY, "--allow-changes", "--repeat", "1")
    changed = " ".join(text for plan in tried["plans"] for text in map(str, plan["changes"]))
    assert "index scan" in changed
    with duckdb.connect(path, read_only=True) as connection:
        assert connection.execute("select * from duckdb_indexes()").fetchall() == []


def test_a_page_is_found_by_the_key_that_the_file_declares(tmp_path):
    page = "select note from orders order by {} limit 20 offset 3000"
    folder = folder_of(tmp_path, page=page.format("order_id"), late=page.format("customer_id"))
    file = file_of(tmp_path / "shop", SALES)
    asked = (str(folder), "--dsn", file.dsn)
    with closing(Lab(tmp_path / "lab")) as lab:
        kept = lab.assay("answers", *asked, "--keep", "--runs", str(tmp_path / "kept"))
        assert kept.returncode == 0, kept.stderr
        lab.document("run", *asked, *BRIEF, "-o", "page")
        trial = tried(lab, advice("late-look-up", "page") | {"operations": ["page"]}, 1, file.dsn)
        changed = lab.document("show", trial["rounds"][0]["after"])
        refused = lab.assay("run", *asked, "--remove", "late/far-page")
    assert trial["change"] == "page with a look-up by key"
    assert trial["answers"]["verdict"] == "valid"
    answers = next(check for check in changed["checks"] if check["check"] == "answers")
    assert "1 of 1 answers right" in answers["reason"]
    assert refused.returncode == 1
    assert "--remove far-page is not possible for late: several rows may have" in refused.stderr
