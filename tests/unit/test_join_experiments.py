"""Experiments that send a query in another form: the request that they make, and their refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.engines.discovery import find_engine
from assay.model.errors import UsageError
from assay.model.finding import Advice
from assay.running.asked.request import RunRequest
from assay.study.experiments.following import followed

ENGINES = ("sqlite", "duckdb", "postgresql", "mysql", "mariadb")
TABLE = "create table leads (id int not null primary key, phone int, mail int, n int)"
TEXTS = {
    "buyers": "select distinct c.id from customers c join orders o on o.customer = c.id",
    "matches": "select l.id from leads l join contacts c on l.phone = c.phone or l.mail = c.mail",
    "kept": "select l.id from leads l left join contacts c on l.phone = c.phone",
    "seen": "select case when count(*) > 0 then 1 else 0 end from leads where phone = '7'",
    "both": "select 1; select 2",
    "page": "select mail from leads order by id limit 20 offset 2000",
    "totals": "select id, (select sum(n) from leads b where b.id <= leads.id) from leads",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    workload = tmp_path / "sales"
    (workload / "schema").mkdir(parents=True)
    (workload / "schema" / "tables.sql").write_text(TABLE, encoding="utf-8")
    for name, text in TEXTS.items():
        (workload / f"{name}.sql").write_text(text, encoding="utf-8")
    return workload


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("advice", "change", "part"),
    [
        (Advice("exists", "buyers"), "buyers with exists", "buyers/distinct-join"),
        (Advice("exists-for-count", "seen"), "seen with exists", "seen/counted-rows"),
        (
            Advice("union-of-joins", "matches"),
            "matches with a union of joins",
            "matches/either-join",
        ),
        (
            Advice("window-function", "totals"),
            "totals with a window function",
            "totals/running-total",
        ),
        (Advice("late-look-up", "page"), "page with a look-up by key", "page/far-page"),
    ],
)
def test_a_query_is_sent_in_another_form_once(
    folder: Path, engine: str, advice: Advice, change: str, part: str
) -> None:
    request = RunRequest(workload=str(folder), engine=engine, scale=1)
    changed = followed(request, advice, find_engine(engine))
    assert changed.text == change
    assert changed.request.remove == [part]
    with pytest.raises(UsageError, match=f"there is nothing to try: the run already had {change}"):
        followed(changed.request, advice, find_engine(engine))


@pytest.mark.parametrize(
    ("advice", "reason"),
    [
        (Advice("exists", "matches"), "matches: the query is no `select distinct`"),
        (Advice("union-of-joins", "kept"), "kept: the query has a left join, and only inner joins"),
        (Advice("union-of-joins", "both"), "both: only a single SELECT query can be rewritten"),
        (Advice("exists-for-count", "kept"), "kept: the query compares no `count"),
        (Advice("window-function", "seen"), "seen: the query computes each row from several"),
        (Advice("late-look-up", "seen"), "seen: the query has no `limit` with an `offset`"),
        (Advice("exists", "sold"), "has no operation 'sold'"),
    ],
)
def test_a_query_without_such_a_join_says_why(folder: Path, advice: Advice, reason: str) -> None:
    request = RunRequest(workload=str(folder), engine="sqlite", scale=1)
    with pytest.raises(UsageError, match=f"cannot be made on SQLite: .*{reason}"):
        followed(request, advice, find_engine("sqlite"))
