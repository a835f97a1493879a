"""One's own tables on a server that runs: from slow statements to a change that helps."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from tests.e2e.conftest import server_laboratory, wait_until
from tests.e2e.server import RunningServer
from tests.e2e.test_running_server import BRIEF, folder_of, url_of
from tests.e2e.test_try import advice, tried

ROWS = (
    "create table sales.orders as select i as order_id, i % 20000 as customer_id,"
    " repeat('x', 80) as note from generate_series(1, 200000) as i"
)
NOTEBOOK = Path(__file__).parents[2] / "docs" / "own" / "your-own-database.ipynb"
TABLES = (
    "create schema sales authorization owner",
    ROWS,
    "alter table sales.orders owner to owner",
    # Another table of the name, with the index that the first one lacks.
    "create schema archive authorization owner",
    "create table archive.orders as select * from sales.orders limit 10",
    "create index on archive.orders (customer_id)",
    "alter table archive.orders owner to owner",
    "analyze sales.orders",
)
INDEXES = "select indexname from pg_indexes where schemaname = 'sales'"
KEY = "missing-index:by_customer"
MAKE = 'create index concurrently "assay_orders_customer_id" on "sales"."orders" ("customer_id");'


@pytest.fixture(scope="module")
def sales(server: RunningServer):
    for statement in TABLES:
        server.asked(statement)
    yield server
    server.asked("drop schema sales, archive cascade")


@pytest.fixture(scope="module")
def journey(sales, server_place, tmp_path_factory):
    """A laboratory with one run of two statements, of which one lacks an index."""
    folder = folder_of(
        tmp_path_factory.mktemp("own"),
        by_customer="select order_id from sales.orders where customer_id = 4711",
        count="select count(*) from archive.orders",
    )
    asked = [str(folder), "--dsn", url_of(sales), *BRIEF]
    with server_laboratory(server_place) as lab:
        yield lab, asked, lab.document("run", *asked)


def finding_of(document: dict) -> dict:
    return next(finding for finding in document["findings"] if finding["key"] == KEY)


def test_the_cause_has_a_statement_to_paste_and_one_to_undo_it(journey):
    _, _, document = journey
    change = finding_of(document)["change"]
    assert " ".join(change["sql"].split()) == MAKE
    assert 'drop index concurrently if exists "sales"' in change["undo"]
    assert change["costs"]


def test_without_leave_nothing_is_changed_and_the_statement_is_shown(journey, sales):
    lab, asked, document = journey
    refused = lab.assay("try", document["run"], KEY, "--dsn", asked[2])
    assert refused.returncode == 1
    assert "--allow-changes" in refused.stderr
    assert MAKE in refused.stderr
    assert sales.asked(INDEXES) == []


def test_with_leave_it_is_made_measured_and_taken_back(journey, sales):
    lab, asked, document = journey
    told = lab.document(
        "try", document["run"], KEY, "--dsn", asked[2], "--allow-changes", "--repeat", "2"
    )
    (operation,) = [row for row in told["operations"] if row["operation"] == "by_customer"]
    assert operation["gain"]["share"] > 0.5
    assert sales.asked(INDEXES) == []


def test_the_same_command_after_the_change_shows_every_operation_before_and_after(journey, sales):
    lab, asked, _ = journey
    sales.asked(MAKE.replace("concurrently ", ""))
    try:
        after = lab.assay("run", *asked)
    finally:
        sales.asked('drop index sales."assay_orders_customer_id"')
    assert after.returncode == 0, after.stderr
    told = after.stderr.partition("Before and after")[2]
    assert "by_customer" in told
    assert "count" in told
    assert "times as fast" in told
    assert "assay_orders_customer_id" in " ".join(told.split())


def test_killed_with_the_change_made_it_is_taken_back(journey, sales):
    lab, asked, document = journey
    arguments = ("try", document["run"], KEY, "--dsn", asked[2], "--allow-changes", "--again")
    begun = lab.begin(*arguments)
    wait_until(lambda: sales.asked(INDEXES) != [], "the index")
    os.kill(begun.pid, signal.SIGKILL)
    begun.communicate()
    wait_until(lambda: sales.asked(INDEXES) == [], "no index")
    lab.assert_nothing_left()


def test_with_all_processes_killed_the_server_does_not_go_on_with_the_index(journey, sales):
    """The index waits for another client's transaction while all processes of the run are killed.

    The server then notices that its client is gone, and the next run begins without the index.
    """
    lab, asked, document = journey
    arguments = ("try", document["run"], KEY, "--dsn", asked[2], "--allow-changes", "--again")
    with psycopg.connect(sales.dsn()) as writing:
        writing.execute("insert into sales.orders values (0, -1, '')")
        begun = lab.begin(*arguments)
        wait_until(lambda: sales.asked(INDEXES) != [], "the index, not complete yet")
        begun.kill()
        while strays := lab.strays():
            for pid in strays:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        begun.communicate()
        wait_until(lambda: not sales.busy(), "no statement of Assay on the server")
        writing.rollback()
    tried = lab.document(*arguments)
    (operation,) = [row for row in tried["operations"] if row["operation"] == "by_customer"]
    assert operation["gain"]["share"] > 0.5
    assert sales.asked(INDEXES) == []


def test_the_notebook_of_the_journey_runs_from_its_first_cell_to_its_last(journey, sales):
    lab, asked, _ = journey
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    told = "print(after.before_after(before).write_json())"
    ran = subprocess.run(
        [sys.executable, "-c", "\n".join([*sources, told])],
        env={**lab.env(), "DSN": asked[2], "QUERIES": asked[0]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    rows = {row["operation"]: row for row in json.loads(ran.stdout.splitlines()[-1])}
    assert rows["by_customer"]["verdict"] == "faster"
    assert "assay_orders_customer_id" in rows["by_customer"]["plan"]
    assert sales.asked(INDEXES) == []


def test_a_page_is_found_by_the_key_that_the_server_declares(server, server_place, tmp_path):
    for statement in (
        "create table recipes (id int primary key, title text, published int)",
        "insert into recipes select i, 'recipe ' || i, i % 97 from generate_series(1, 5000) as i",
        "alter table recipes owner to owner",
    ):
        server.asked(statement)
    page = "select title from recipes order by {} limit 20 offset 3000"
    folder = folder_of(tmp_path, page=page.format("id"), day=page.format("published"))
    asked = (str(folder), "--dsn", url_of(server))
    try:
        with server_laboratory(server_place) as lab:
            kept = lab.assay("answers", *asked, "--keep", "--runs", str(tmp_path / "kept"))
            assert kept.returncode == 0, kept.stderr
            lab.document("run", *asked, *BRIEF, "-o", "page")
            late = advice("late-look-up", "page") | {"operations": ["page"]}
            trial = tried(lab, late, 1, url_of(server))
            changed = lab.document("show", trial["rounds"][0]["after"])
            refused = lab.assay("run", *asked, "--remove", "day/far-page")
            lab.assert_nothing_left()
    finally:
        server.asked("drop table recipes")
    assert trial["change"] == "page with a look-up by key"
    assert trial["answers"]["verdict"] == "valid"
    answers = next(check for check in changed["checks"] if check["check"] == "answers")
    assert "1 of 1 answers right" in answers["reason"]
    assert refused.returncode == 1
    assert "--remove far-page is not possible for day: several rows may have" in refused.stderr
