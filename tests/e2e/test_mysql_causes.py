"""Causes that only a running MySQL server shows: a guessed column, and tables opened again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.products import obtained

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Lab

ENGINE = ["--engine", "mysql", "--set", "innodb_buffer_pool_size=256M"]
# The optimiser expects a tenth of the customers for any state that no index and histogram counts.
SKEWED = """
create table numbers (n int primary key);
insert into numbers with recursive s
  as (select 1 as n union all select n+1 from s where n < 1000) select n from s;
create table customers (id int primary key, state varchar(12) not null,
  name varchar(60) not null);
insert into customers select (a.n-1)*20+b.n, if(((a.n-1)*20+b.n) % {every} = 0, 'blocked',
  'normal'), concat('customer ', a.n) from numbers a join numbers b on b.n <= 20;
create table shops (id int primary key, region varchar(12) not null, key by_region (region));
insert into shops select (a.n-1)*5+b.n,
  if(b.n=1 and a.n % 5 = 0,'north','south') from numbers a join numbers b on b.n <= 5;
create table sales (id int primary key, customer int not null, shop int not null,
  amount int not null, key by_customer (customer), key by_shop (shop));
insert into sales select (a.n-1)*600+b.n, ((a.n*601+b.n*7919) % 20000)+1,
  ((a.n*37+b.n*13) % 5000)+1, b.n from numbers a join numbers b on b.n <= 600;
analyze table customers; analyze table shops; analyze table sales;
"""
BLOCKED = """
select sum(s.amount) from sales s join customers c on c.id = s.customer
join shops h on h.id = s.shop where c.state = 'blocked' and h.region = 'north'
"""
TABLES = 24
SESSIONS = ["--clients", "4", "--time", "4s", "--warmup", "1s"]


@pytest.fixture(scope="module", autouse=True)
def _obtained() -> None:
    obtained("mysql")


def workload(folder: Path, schema: str, query: str, settings: str = "") -> str:
    for place, name, text in (
        ("schema", "tables.sql", schema),
        ("operations", "sum.sql", f"-- A sum.\n{query.strip()}\n"),
    ):
        (folder / place).mkdir(parents=True)
        (folder / place / name).write_text(text, encoding="utf-8")
    text = f'about = "Adds."\n{settings}\n[operations.sum]\n'
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    return str(folder)


def causes(document: dict[str, Any], method: str) -> list[dict[str, Any]]:
    return [
        finding
        for finding in document["findings"]
        if finding["tells"] == "cause" and finding["method"] == method
    ]


@pytest.mark.parametrize(("every", "names"), [(10_000, True), (10, False)])
def test_a_guessed_column_that_misleads_the_join_order_needs_a_histogram(
    server_lab: Lab, tmp_path: Path, every: int, names: bool
) -> None:
    folder = workload(tmp_path / "skewed", SKEWED.format(every=every), BLOCKED)
    document = server_lab.document("run", folder, *ENGINE, "--min-time", "1s")
    advised = [finding["advice"] for finding in causes(document, "overestimate")]
    if names:
        (advice,) = advised
        assert (advice["kind"], advice["subject"]) == ("histogram", "customers")
        assert advice["values"]["columns"] == "state"
    else:
        assert advised == []


@pytest.mark.parametrize(("open_tables", "names"), [(10, True), (2_000, False)])
def test_tables_that_a_small_cache_closed_are_opened_again(
    server_lab: Lab, tmp_path: Path, open_tables: int, names: bool
) -> None:
    schema = "".join(
        f"create table shop_{at} (id int primary key, amount int not null);\n"
        f"insert into shop_{at} values (1, 5), (2, 6);\n"
        for at in range(TABLES)
    )
    query = "\nunion all\n".join(
        f"select amount from shop_{at} where id = 1"  # noqa: S608
        for at in range(TABLES)
    )
    folder = workload(tmp_path / "shops", schema, query, 'arrival = "closed"')
    settings = ["table_open_cache_instances=1", f"table_open_cache={open_tables}"]
    options = [word for setting in settings for word in ("--set", setting)]
    document = server_lab.document("run", folder, *ENGINE, *SESSIONS, *options)
    found = causes(document, "table-cache")
    assert bool(found) == names
    if names:
        assert int(found[0]["advice"]["values"]["value"]) >= 2 * TABLES * 4
