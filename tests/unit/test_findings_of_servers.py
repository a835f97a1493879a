"""Advice for a server that Assay did not start: only commands that `assay try` accepts."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from assay.analysis.findings.changing import change_of
from assay.analysis.findings.client import client_bound
from assay.analysis.findings.engine_facts import TableFacts
from assay.analysis.findings.indexes import missing_index, unused_index
from assay.analysis.findings.memory import small_cache, spill
from assay.analysis.findings.waiting import stalls
from assay.engines.discovery import find_engine
from assay.model.catalogue import Index
from assay.model.finding import Advice, Change
from tests.cases import case, node, operation, plan, plans
from tests.truths import copied, spilled
from tests.unit.test_findings_load import load, used
from tests.unit.test_findings_record import TestCheckpoints
from tests.unit.test_findings_why_unused import scan_of

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

PLAIN, WITH_PASSWORD = "postgresql://me@localhost/shop", "postgresql://me:***@localhost/shop"
CHECKPOINTS = TestCheckpoints()


def on_server(run_case: Case, dsn: str = PLAIN) -> Case:
    """The run, made on a server of somebody else with PostgreSQL's templates of statements."""
    advice = find_engine("postgresql").advice() or {}
    return dataclasses.replace(run_case, request={"dsn": dsn}, own_tables=True, advice=advice)


def test_a_cache_of_the_whole_server_is_a_statement_and_no_trial() -> None:
    (finding,) = small_cache.find(on_server(copied(0.5)))
    assert finding.advice is None
    assert finding.to_try is None
    assert finding.change is not None
    assert finding.change.sql.startswith("alter system set shared_buffers = ")
    assert "restart" in finding.change.costs


def test_a_longer_time_between_checkpoints_is_a_statement_and_no_trial() -> None:
    (finding,) = stalls.find(on_server(CHECKPOINTS.case()))
    assert finding.advice is None
    assert finding.to_try is None
    assert finding.change is not None
    assert "max_wal_size" in finding.change.sql


@pytest.mark.parametrize("alterable", [True, False, None])
def test_an_index_that_the_role_may_not_make_is_a_statement_and_no_trial(
    *, alterable: bool | None
) -> None:
    scan = node("scan", object="lines", schema="sales", condition="(line = 7)", rows=1.0)
    scan = dataclasses.replace(scan, removed_rows=1e6, seconds=1.0)
    slow = operation(overrides={"seconds": 1.0}, cpu_user=1.0)
    tables = {"sales.lines": TableFacts(alterable=alterable)}
    run_case = on_server(case(slow, plans=plans(plan(scan)), tables=tables))
    (finding,) = missing_index.find(run_case)
    assert finding.change is not None
    assert ('on "sales"."lines"') in finding.change.sql
    is_refused = alterable is False
    assert (finding.advice is None) is is_refused
    assert ("--allow-changes" in (finding.to_try or "")) is not is_refused
    assert ("the owner of the table may" in (finding.change.costs or "")) is is_refused


def test_a_setting_of_the_whole_server_is_not_advised_for_one_role() -> None:
    facts = find_engine("postgresql").advice() or {}
    costs = {
        role: (
            change_of(Advice("setting", role, {"value": str(1 << 28)}), facts) or Change("")
        ).costs
        for role in ("cache", "work_memory")
    }
    assert "alter role" not in (costs["cache"] or "")
    assert "superuser" in (costs["cache"] or "")
    assert "alter role ... set" in (costs["work_memory"] or "")


def test_behind_a_pooler_no_setting_of_a_session_is_tried() -> None:
    tried, stated = (
        spill.find(dataclasses.replace(on_server(spilled(0.5)), is_pooled=pooled))[0]
        for pooled in (False, True)
    )
    assert "assay try" in (tried.to_try or "")
    assert (stated.advice, stated.to_try) == (None, None)
    assert stated.change is not None
    assert "work_mem" in stated.change.sql


def test_an_index_that_is_no_longer_valid_keeps_its_words_without_a_trial() -> None:
    facts = {"valid": False, "state": "invisible", "mend": "reindex index lines_badge"}
    index = Index("lines", "lines_badge", ("badge",), **facts)
    (finding,) = unused_index.find(on_server(scan_of("(lines.badge = 7)", index)))
    assert finding.advice is None
    assert finding.to_try is not None
    assert "reindex index lines_badge" in finding.to_try
    assert "assay try" not in finding.to_try


@pytest.mark.parametrize(("dsn", "again"), [(PLAIN, ""), (WITH_PASSWORD, " --dsn ...")])
def test_a_trial_names_the_server_anew_where_the_record_has_no_password(
    dsn: str, again: str
) -> None:
    run_case = case(load=load(), accounts=used(driver=3.9), cores=4)
    (finding,) = [
        found for found in client_bound.find(on_server(run_case, dsn)) if found.tells == "bound"
    ]
    assert finding.advice is not None
    assert f"`assay try {run_case.run_id} client-bound{again}` " in (finding.to_try or "")
