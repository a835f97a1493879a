"""BSBM: its mixes are those of the specification, and both languages ask for the same."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from assay.model.language import SPARQL, SQL
from assay.workloads.answers import kept_rows
from assay.workloads.contract import Workload
from assay.workloads.discovery import find_workload

SCALES = (100, 1000, 2785, 28481)
EXPLORE = "1 2 2 3 2 2 4 2 2 5 7 7 5 7 7 8 9 9 8 9 9 10 10 11 12"
BI = "1 3 2 2 4 5 5 6 5 6 6 7 8 7 6"
# What SPARQL names beside numbers of things, for things are called by whose they are, too.
OF_NAMES = {"producer_of_product", "vendor_of_offer", "site_of_review"}


@pytest.fixture(params=["bsbm", "bsbm-bi", "bsbm-explore-and-update"])
def workload(request: pytest.FixtureRequest) -> Workload:
    return find_workload(request.param)


def numbers(workload: Workload) -> str:
    return " ".join(re.sub("^q", "", name) for name in workload.facts.order)


def test_mixes_are_those_of_the_specification() -> None:
    assert numbers(find_workload("bsbm")) == EXPLORE
    assert numbers(find_workload("bsbm-bi")) == BI
    assert numbers(find_workload("bsbm-explore-and-update")) == f"u1 u2 u1 u2 u2 {EXPLORE}"


@pytest.mark.parametrize("name", ["bsbm", "bsbm-bi"])
def test_both_languages_draw_the_same_values(name: str) -> None:
    workload = find_workload(name)
    sparql = {
        sparql_operation.name: sparql_operation
        for sparql_operation in workload.script((SPARQL,), 1000, 1).operations
    }
    sql = {
        sql_operation.name: sql_operation
        for sql_operation in workload.script(("duckdb",), 1000, 1).operations
    }
    assert sparql.keys() == sql.keys()
    for operation, measured_operation in sparql.items():
        both = [
            set(measured_operation.registers) - OF_NAMES,
            set(sql[operation].registers) - OF_NAMES,
        ]
        assert both[0] == both[1], operation
        assert measured_operation.fixed == sql[operation].fixed == operation.endswith("@check")


def test_explore_is_one_set_of_files() -> None:
    explore, update = find_workload("bsbm"), find_workload("bsbm-explore-and-update")
    theirs = {
        operation.name: operation for operation in explore.script((SPARQL,), 100, 1).operations
    }
    own = {operation.name: operation for operation in update.script((SPARQL,), 100, 1).operations}
    assert own.keys() - theirs.keys() == {"u1", "u2"}
    assert all(own[name] == operation for name, operation in theirs.items())
    assert kept_rows(update, 100, SPARQL) == kept_rows(explore, 100, SPARQL)


def test_every_check_has_kept_rows_in_each_language(workload: Workload) -> None:
    for scale in SCALES:
        for language in workload.facts.languages:
            kept = kept_rows(workload, scale, language)
            assert set(kept) == set(workload.facts.checked), (scale, language)
            # Few of them say that there is nothing: those would say little of an engine.
            empty = [name for name, path in kept.items() if path.read_text().count("\n") == 1]
            assert len(empty) <= 3, (scale, language, empty)


def test_no_text_is_of_the_query_that_was_taken_out() -> None:
    """It searched all labels with a regular expression; it was called Q4, or Q6."""
    for workload in (find_workload("bsbm"), find_workload("bsbm-bi")):
        for language in (SPARQL, SQL):
            texts = [
                operation.statements[0].text
                for operation in workload.script((language,), 1, 1).operations
            ]
            assert not Counter(re.findall(r"(?i)\b(regex|like|contains)\b", " ".join(texts)))
