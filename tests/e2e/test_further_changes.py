"""Changes that no finding advises, tried by a diagnosis on real engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import server_laboratory
from tests.e2e.test_experiments import diagnosed, diagnosed_until, tried_in
from tests.e2e.test_running_server import folder_of

SALES = (
    "create table sales as select i as id, i * 7919 % 100003 as cents from range(1000000) as r(i)"
)
CHEAPEST = "select id, cents from sales order by cents, id limit 10"
VISITS = """create table visits
(id integer primary key, who int not null, day int not null, note text);
with recursive n (i) as (select 1 union all select i + 1 from n where i < 200000)
insert into visits select i, i * 7919 % 3001, i * 31 % 9973, 'a note of the visit' || i from n;
"""
INDEX = "index of visits (who, day)"


def diagnosis(
    server_place: Path,
    place: Path,
    engine: str,
    tables: str,
    query: str,
    *asked: str,
    until: str | None = None,
) -> dict[str, dict[str, Any]]:
    """Return the tried changes of the first step of a query's diagnosis.

    It goes on until one of them has a verdict, or ends after 15 s if none is named.
    """
    folder = folder_of(place, query=query)
    (folder / "schema").mkdir()
    (folder / "schema" / "tables.sql").write_text(tables, encoding="utf-8")
    with server_laboratory(server_place) as lab:
        given = (str(folder), "--engine", engine, "--min-time", "300ms", *asked)
        if until is None:
            return tried_in(diagnosed(lab, *given, "--budget", "15s"))
        return tried_in(diagnosed_until(lab, until, *given))


@pytest.mark.parametrize(
    ("setting", "is_cause"),
    [("disabled_optimizers=top_n", True), ("default_null_order=nulls_last", False)],
    ids=["cause", "counterpart"],
)
def test_the_run_without_a_given_setting(
    server_place: Path, tmp_path: Path, setting: str, *, is_cause: bool
) -> None:
    """All rows are sorted for ten of them, or the setting changes nothing."""
    change = f"{setting.partition('=')[0]} not set"
    until = change if is_cause else None
    asked = ("--set", setting)
    tried = diagnosis(server_place, tmp_path, "duckdb", SALES, CHEAPEST, *asked, until=until)
    found = tried[change]
    assert found["key"] == "given-option"
    assert (found["verdict"] == "confirmed") is is_cause, found["says"]
    if is_cause:
        assert found["gain"]["share"] > 0.4
        assert found["recommended"]


@pytest.mark.parametrize(
    ("query", "is_cause"),
    [
        ("select who, max(day) as last from visits group by who", True),
        ("select max(day * who) as most from visits", False),
    ],
    ids=["cause", "counterpart"],
)
def test_an_index_that_the_optimiser_uses(
    server_place: Path, tmp_path: Path, query: str, *, is_cause: bool
) -> None:
    """Groups come in order from an index, so that nothing is sorted."""
    until = INDEX if is_cause else None
    tried = diagnosis(server_place, tmp_path, "sqlite", VISITS, query, until=until)
    assert (INDEX in tried) is is_cause
    if is_cause:
        assert tried[INDEX]["key"] == "tried-index:query"
        assert tried[INDEX]["verdict"] == "confirmed", tried[INDEX]["says"]
        assert tried[INDEX]["gain"]["share"] > 0.3
