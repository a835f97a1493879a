"""Experiments of a diagnosis, each where its cause is present and where it is not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Lab, server_laboratory
from tests.e2e.server import RunningServer
from tests.e2e.test_running_server import folder_of, url_of

PLANTED = Path(__file__).parents[1] / "planted" / "calibration" / "chatty-basket"
# Computes for long and keeps no rows, so that no cause of its time can be removed.
COMPUTED = "select max(i * 7 % 11) from (select generate_series(1, 400000) as i) as made"
# Five rows, each of which waits for a commit of its own.
SAVE = ";\n".join(5 * ["insert into readings values (1, 20)"])
READINGS = "create table readings (id integer, value integer);\n"
TOGETHER = "save in one transaction"
# A verdict takes two rounds, and a host that is busy with other things takes long for them.
BUDGETS = ("20s", "35s", "1m")
PIPELINED, PREPARED = "statements pipelined", "statements prepared"
# Planning a join of eight tables takes far longer than seeing that no row has this number.
MANY_JOINS = """select count(*) from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
join pg_attribute as a on a.attrelid = c.oid
join pg_type as t on t.oid = a.atttypid
join pg_index as i on i.indrelid = c.oid
join pg_am as m on m.oid = c.relam
join pg_depend as d on d.objid = c.oid
join pg_description as s on s.objoid = t.oid
where c.oid = 0
"""
LONG_SUM = "select sum(i) from generate_series(1, 300000) as i"


def tried_in(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The causes of the first step that were tried, by their changes."""
    return {tried["change"]: tried for tried in document["steps"][0]["tried"]}


@pytest.fixture
def basket(tmp_path: Path) -> Path:
    """A workload that sends a statement for each of six products."""
    return Path(shutil.copytree(PLANTED, tmp_path / "basket"))


def diagnosed(lab: Lab, *asked: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(lab.assay("diagnose", *asked, "--json").stdout)
    lab.assert_nothing_left()
    return document


def diagnosed_until(lab: Lab, change: str, *asked: str) -> dict[str, Any]:
    """Diagnose until a change has a verdict; each command goes on where the one before ended."""
    for budget in BUDGETS:
        document = diagnosed(lab, *asked, "--budget", budget)
        if tried_in(document).get(change, {}).get("verdict") in {"confirmed", "refuted"}:
            break
    return document


def test_statements_are_pipelined_where_a_client_waits_for_each(
    basket: Path, server_place: Path
) -> None:
    asked = ("--engine", "postgresql", "--clients", "1", "--time", "3s", "--warmup", "1s")
    with server_laboratory(server_place) as lab:
        document = diagnosed(lab, str(basket), *asked, "--budget", "3m")
        tried = tried_in(document)[PIPELINED]
        assert tried["key"] == "round-trips:basket"
        assert tried["verdict"] == "confirmed", tried["says"]


def test_one_statement_is_not_pipelined(basket: Path, server_place: Path) -> None:
    shutil.copy(basket / "without" / "basket.sql", basket / "operations" / "basket.sql")
    asked = ("--engine", "postgresql", "--clients", "1", "--time", "3s", "--warmup", "1s")
    with server_laboratory(server_place) as lab:
        document = diagnosed(lab, str(basket), *asked, "--budget", "30s")
        assert PIPELINED not in json.dumps(document)


def test_statements_are_prepared_where_planning_takes_the_time(
    server: RunningServer, server_place: Path, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path, joined=MANY_JOINS)
    given = (str(folder), "--dsn", url_of(server), "--min-time", "200ms", "--budget", "3m")
    with server_laboratory(server_place) as lab:
        tried = tried_in(diagnosed(lab, *given))[PREPARED]
        assert tried["key"] == "optimiser:joined"
        assert tried["verdict"] == "confirmed", tried["says"]


def test_statements_that_run_long_are_not_prepared(
    server: RunningServer, server_place: Path, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path, summed=LONG_SUM)
    given = (str(folder), "--dsn", url_of(server), "--min-time", "200ms", "--budget", "30s")
    with server_laboratory(server_place) as lab:
        assert PREPARED not in json.dumps(diagnosed(lab, *given))


def test_the_resource_of_a_run_without_causes_is_slowed(server_place: Path, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, computed=COMPUTED)
    given = (str(folder), "--engine", "postgresql", "--min-time", "1s", "--budget", "2m")
    with server_laboratory(server_place) as lab:
        document = diagnosed(lab, *given)
        (tried,) = document["steps"][0]["tried"]
        assert tried["change"] == "cpu slowed by the factor 2"
        # Beside other load, five rounds may leave it undecided.
        assert tried["verdict"] in {"confirmed", "undecided"}, tried["says"]
        assert tried["rounds"] > 0
        if tried["verdict"] == "confirmed":
            low, high = tried["dependence"]["interval"]
            assert 0.1 <= low <= tried["dependence"]["share"] <= high
        assert not tried["recommended"]
        assert document["steps"][0]["kept"] is None


def test_a_run_that_only_sleeps_has_no_resource_to_slow(server_place: Path, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, asleep="select pg_sleep(0.05)")
    given = (str(folder), "--engine", "postgresql", "--min-time", "1s", "--budget", "1m")
    with server_laboratory(server_place) as lab:
        assert diagnosed(lab, *given)["steps"][0]["tried"] == []


@pytest.mark.parametrize("begins", [False, True], ids=["cause", "counterpart"])
def test_statements_that_commit_one_by_one_are_put_into_one_transaction(
    server_place: Path, tmp_path: Path, *, begins: bool
) -> None:
    text = f"begin;\n{SAVE};\ncommit" if begins else SAVE
    folder = folder_of(tmp_path, save=text)
    (folder / "tables.sql").write_text(READINGS, encoding="utf-8")
    (folder / "workload.toml").write_text('setup = ["tables.sql"]\n', encoding="utf-8")
    load = ("--clients", "1", "--time", "1s", "--warmup", "200ms")
    given = (str(folder), "--engine", "sqlite", *load, "--budget", "30s")
    with server_laboratory(server_place) as lab:
        document = diagnosed(lab, *given)
        if begins:
            assert TOGETHER not in json.dumps(document)
            return
        tried = tried_in(document)[TOGETHER]
        assert (tried["key"], tried["rounds"] > 0) == ("autocommit:save", True)
        # A commit instead of five saves most of the time, which a busy host does not hide.
        assert tried["gain"]["share"] > 0, tried["says"]


STOCK = """create table stock (article integer primary key, reserved integer not null);
insert into stock select i, 0 from generate_series(1, 1000) as i;
"""
# The row stays locked while the client waits for another service.
RESERVE = """begin;
update stock set reserved = reserved + 1 where article = {article};
select pg_sleep(0.004);
commit
"""


@pytest.mark.parametrize("article", ["7", "${article}"], ids=["cause", "counterpart"])
def test_clients_that_lock_the_same_row_are_tried_with_one_client(
    server_place: Path, tmp_path: Path, article: str
) -> None:
    folder = folder_of(tmp_path, reserve=RESERVE.format(article=article))
    (folder / "tables.sql").write_text(STOCK, encoding="utf-8")
    parameters = "[operations.reserve.parameters]\narticle = { integer = [1, 1000] }\n"
    manifest = 'setup = ["tables.sql"]\nretries = 100\n'
    if article != "7":
        manifest += f"[operations.reserve]\n{parameters}"
    (folder / "workload.toml").write_text(manifest, encoding="utf-8")
    load = ("--clients", "4", "--time", "2s", "--warmup", "300ms", "--durability", "relaxed")
    given = (str(folder), "--engine", "postgresql", *load, "--budget", "1m")
    with server_laboratory(server_place) as lab:
        document = diagnosed(lab, *given)
        if article != "7":
            assert "one client alone" not in json.dumps(document)
            return
        tried = tried_in(document)["one client alone"]
        assert tried["key"] == "lock-wait:reserve"
        # Four clients wait for one row for three quarters of their time.
        assert tried["gain"]["share"] > 0.5, tried["says"]
        assert not tried["recommended"]
        assert document["steps"][0]["kept"] is None


BATCH = """insert into readings (site, code, level, depth, note)
with recursive made (n) as (select 1 union all select n + 1 from made where n < 300)
select n * 7919 % 9001, n * 31 % 499, n * 7 % 30011, n * 3 % 65537, hex(n * 7919) from made
"""
COLUMNS = ("site", "code", "level", "depth", "note")


@pytest.mark.parametrize("indexed", [COLUMNS, COLUMNS[:2]], ids=["cause", "counterpart"])
def test_indexes_that_no_statement_reads_are_dropped_for_a_trial(
    server_place: Path, tmp_path: Path, indexed: tuple[str, ...]
) -> None:
    folder = folder_of(tmp_path, keep=BATCH)
    tables = [f"create table readings (id integer primary key, {', '.join(COLUMNS)});\n"]
    tables += [f"create index by_{column} on readings ({column});\n" for column in indexed]
    (folder / "tables.sql").write_text("".join(tables), encoding="utf-8")
    (folder / "workload.toml").write_text('setup = ["tables.sql"]\n', encoding="utf-8")
    load = ("--clients", "1", "--time", "1s", "--warmup", "200ms")
    given = (str(folder), "--engine", "sqlite", *load, "--budget", "30s")
    with server_laboratory(server_place) as lab:
        document = diagnosed(lab, *given)
        if indexed != COLUMNS:
            assert "extra-indexes" not in json.dumps(document)
            return
        (tried,) = (one for one in tried_in(document).values() if one["key"].startswith("extra"))
        assert tried["change"].startswith("readings without by_")
        assert tried["gain"]["share"] > 0.3, tried["says"]
        assert not tried["recommended"]
        assert document["steps"][0]["kept"] is None


MERGE = """insert into items (id, price, seen)
select f.id, PRICE, datetime('now') from feed as f where true
on conflict (id) do update set price = excluded.price, seen = excluded.seen
"""


@pytest.mark.parametrize("price", ["f.price", "f.price + abs(random() % 9)"], ids=["cause", "twin"])
def test_updates_leave_rows_that_have_the_new_values(
    server_place: Path, tmp_path: Path, price: str
) -> None:
    folder = folder_of(tmp_path, merge=MERGE.replace("PRICE", price))
    tables = (
        "create table feed as with recursive n(i) as (select 1 union all select i + 1 from n "
        "where i < 5000) select i as id, i % 97 as price, hex(randomblob(20)) as name from n;\n"
        "create table items (id integer primary key, price integer, seen text, name text);\n"
        "insert into items select id, price, '', name from feed;\n"
        "create index by_name on items (name, price, seen);\n"
    )
    (folder / "tables.sql").write_text(tables, encoding="utf-8")
    (folder / "workload.toml").write_text('setup = ["tables.sql"]\n', encoding="utf-8")
    load = ("--clients", "1", "--time", "1s", "--warmup", "200ms")
    with server_laboratory(server_place) as lab:
        document = diagnosed(lab, str(folder), "--engine", "sqlite", *load, "--budget", "20s")
    if price != "f.price":
        assert "unchanged-rows" not in json.dumps(document)
        return
    tried = tried_in(document)["merge updates only rows that change"]
    assert tried["gain"]["share"] > 0.3, tried["says"]


VERSIONS = """create table versions as
select i % 40000 as id, i as version, i % 50 as region, i * 7 % 1000 as amount
from range(400000) as made(i);
create view current_versions as select id, region, amount from
(select *, row_number() over (partition by id order by version desc) as place from versions)
where place = 1;
"""


def test_a_view_that_ranks_all_versions_is_tried_as_a_table(
    server_place: Path, tmp_path: Path
) -> None:
    query = "select count(*), sum(amount) from current_versions where region = 7 and amount < 100"
    folder = folder_of(tmp_path, newest=query)
    (folder / "schema").mkdir()
    (folder / "schema" / "tables.sql").write_text(VERSIONS, encoding="utf-8")
    given = (str(folder), "--engine", "duckdb", "--min-time", "300ms", "--budget", "45s")
    with server_laboratory(server_place) as lab:
        document = diagnosed(lab, *given)
    tried = tried_in(document)["current_versions stored as a table"]
    assert tried["key"] == "ranked-rows:newest"
    assert tried["verdict"] == "confirmed", tried["says"]
    assert tried["gain"]["share"] > 0.5
    assert not tried["recommended"]


# Leads and contacts of one person have the same phone number or the same mail address.
PEOPLE = """create table leads as
select i as id, 'p' || (i * 7919 % 100000) as phone, 'm' || (i * 104729 % 100000) as mail
from range(2000) as made(i);
create table contacts as
select i as id, 'p' || (i * 31 % 100000) as phone, 'm' || (i * 17 % 100000) as mail
from range(20000) as made(i);
"""
MATCHES = "select l.id, c.id as contact from leads as l join contacts as c on "
AS_UNION = "matches with a union of joins"


@pytest.mark.parametrize(
    "condition",
    ["l.phone = c.phone or l.mail = c.mail", "l.phone = c.phone and l.mail <> c.mail"],
    ids=["cause", "counterpart"],
)
def test_a_join_by_alternatives_is_sent_as_a_union_of_joins(
    server_place: Path, tmp_path: Path, condition: str
) -> None:
    folder = folder_of(tmp_path, matches=MATCHES + condition)
    (folder / "schema").mkdir()
    (folder / "schema" / "tables.sql").write_text(PEOPLE, encoding="utf-8")
    is_cause = " or " in condition
    given = (str(folder), "--engine", "duckdb", "--min-time", "300ms")
    with server_laboratory(server_place) as lab:
        if not is_cause:
            assert AS_UNION not in json.dumps(diagnosed(lab, *given, "--budget", "30s"))
            return
        tried = tried_in(diagnosed_until(lab, AS_UNION, *given))[AS_UNION]
        assert tried["key"] == "either-join:matches"
        # Two hash joins instead of 40 million pairs save nearly all of the time.
        assert tried["verdict"] == "confirmed", tried["says"]
        assert tried["gain"]["share"] > 0.5
        assert tried["recommended"]


# Entries of 20 purses, so that each entry is joined with a thousand earlier ones on average.
ENTRIES = """create table entries (id integer not null primary key, purse integer, cents integer);
insert into entries select i, i % 20, i * 31 % 977 from range(40000) as made(i);
"""
BALANCES = """select e.id, sum(b.cents) as balance from entries as e join entries as b
on b.purse = e.purse and {condition} group by e.id order by e.id
"""
BY_WINDOW = "balances with a window function"


@pytest.mark.parametrize("condition", ["b.id <= e.id", "b.id = e.id"], ids=["cause", "counterpart"])
def test_a_running_total_is_sent_as_a_window_function(
    server_place: Path, tmp_path: Path, condition: str
) -> None:
    folder = folder_of(tmp_path, balances=BALANCES.format(condition=condition))
    (folder / "schema").mkdir()
    (folder / "schema" / "tables.sql").write_text(ENTRIES, encoding="utf-8")
    is_cause = "<" in condition
    budget = "1m" if is_cause else "30s"
    given = (str(folder), "--engine", "duckdb", "--min-time", "300ms", "--budget", budget)
    with server_laboratory(server_place) as lab:
        document = diagnosed(lab, *given)
        if not is_cause:
            assert BY_WINDOW not in json.dumps(document)
            return
        tried = tried_in(document)[BY_WINDOW]
        assert tried["key"] == "range-join:balances"
        # A window reads each entry once instead of 40 million pairs.
        assert tried["verdict"] == "confirmed", tried["says"]
        assert tried["gain"]["share"] > 0.5
        assert tried["recommended"]


SHIFTS = """create table shifts (house integer primary key, began timestamptz not null);
insert into shifts select n, '2026-02-01' from generate_series(1, 12) as n;
create table warmth (house integer, taken timestamptz, celsius real);
insert into warmth select n % 12 + 1, '2026-02-02'::timestamptz - n * interval '1 minute', n % 40
from generate_series(1, 60000) as n;
create index on warmth (house, taken);
create function shift_start(integer) returns timestamptz language sql
as $$ select began from shifts where house = $1 $$;
"""
SINCE = "select count(*), avg(celsius) from warmth where house = 7 and taken >= {}"


@pytest.mark.parametrize(
    "begin",
    ["shift_start(7)", "shift_start(house) + (taken - taken)"],
    ids=["cause", "counterpart"],
)
def test_a_function_with_one_result_is_declared_as_stable(
    server_place: Path, tmp_path: Path, begin: str
) -> None:
    folder = folder_of(tmp_path, since=SINCE.format(begin))
    (folder / "schema").mkdir()
    (folder / "schema" / "tables.sql").write_text(SHIFTS, encoding="utf-8")
    is_cause = begin == "shift_start(7)"
    budget = "1m" if is_cause else "20s"
    # A session reports its calls of functions once a second.
    given = (str(folder), "--engine", "postgresql@16", "--min-time", "1500ms", "--budget", budget)
    with server_laboratory(server_place) as lab:
        document = diagnosed(lab, *given)
        stable = "shift_start declared as stable"
        if not is_cause:
            assert stable not in json.dumps(document)
            return
        tried = tried_in(document)[stable]
        assert tried["key"] == "function-per-row:since"
        # The index then finds the rows since the begin of the shift.
        assert tried["verdict"] == "confirmed", tried["says"]
        assert tried["gain"]["share"] > 0.5
        assert tried["recommended"]


RECIPES = """create table recipes (
  id int primary key, published int not null, title varchar(60) not null,
  method varchar(600) not null, key recipes_published (published, id)
);
insert into recipes
select seq, (seq * 7919) % 1000003, concat('recipe ', seq), repeat('m', 500) from seq_1_to_60000;
"""
RECIPE_PAGE = "select id, title from recipes order by published, id limit 20 offset {skipped}"
BY_LOOK_UP = "page with a look-up by key"


@pytest.mark.parametrize("skipped", [40000, 0], ids=["cause", "counterpart"])
def test_the_keys_of_a_page_far_behind_are_found_first(
    server_place: Path, tmp_path: Path, skipped: int
) -> None:
    folder = folder_of(tmp_path, page=RECIPE_PAGE.format(skipped=skipped))
    (folder / "schema").mkdir()
    (folder / "schema" / "tables.sql").write_text(RECIPES, encoding="utf-8")
    budget = "40s" if skipped else "20s"
    given = (str(folder), "--engine", "mariadb", "--min-time", "300ms", "--budget", budget)
    with server_laboratory(server_place) as lab:
        document = diagnosed(lab, *given)
        if not skipped:
            assert BY_LOOK_UP not in json.dumps(document)
            return
        tried = tried_in(document)[BY_LOOK_UP]
        assert tried["key"] == "skipped-rows:page"
        # An index has the keys of all skipped rows, so that the table is read for 20 rows.
        assert tried["verdict"] == "confirmed", tried["says"]
        assert tried["gain"]["share"] > 0.4
        assert tried["recommended"]
