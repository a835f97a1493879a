"""Tests which statements of a transaction begin it, read, change or lock rows."""

from __future__ import annotations

import pytest

from assay.analysis.findings.waiting.transactions import locking_begin, only_reads

READ = "select name from shops where id = ${s}"
CHANGE = "update shops set name = 'a'"


@pytest.mark.parametrize(
    "text",
    [
        READ,
        f"begin; {READ}; {READ}; commit;",
        f"begin immediate;\n-- the shop; only read\n{READ};\nend;",
        "start transaction; with s as (select 1) select * from s; rollback",
        "select replace(name, 'update', ';') from shops",
    ],
)
def test_plain_queries_only_read(text: str) -> None:
    assert only_reads(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "begin; commit;",
        f"begin; {READ}; {CHANGE}; commit;",
        f"begin; {READ} for update; commit;",
        f"{READ} for share",
        "with gone as (delete from shops returning *) select * from gone",
        f"pragma user_version = 3; {READ}",
        f"call count_shops(); {READ}",
    ],
)
def test_changes_locks_and_other_statements_do_more(text: str) -> None:
    assert not only_reads(text)


@pytest.mark.parametrize(
    ("text", "begin"),
    [
        (f"begin immediate; {READ}; commit", "begin immediate"),
        (f"/* shop */ BEGIN  EXCLUSIVE transaction; {READ}; commit", "begin exclusive"),
        (f"begin; {READ}; commit", None),
        (f"begin deferred; {READ}; commit", None),
        ("select 'begin immediate'", None),
    ],
)
def test_a_transaction_that_locks_at_once_says_so_where_it_begins(
    text: str, begin: str | None
) -> None:
    assert locking_begin(text) == begin
