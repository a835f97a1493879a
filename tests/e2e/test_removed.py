"""Queries without their computation on two engines: what is left reads the same, by their plans."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.analysis.ablation.removed import Removal, removals
from assay.record.reader import Run
from tests.e2e.conftest import POSTGRESQL, SMALL, Lab, run_once, server_laboratory

REMOVED = ("--remove", "computation")


def of(document: dict) -> Run:
    return Run(Path(document["path"]))


@pytest.fixture(scope="module")
def on_duckdb(
    tpch_run: tuple[Lab, dict], shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict, list[Removal]]:
    _, plain = tpch_run
    _, document = run_once(shared, tmp_path_factory.mktemp("removed"), *REMOVED)
    return document, removals([(of(plain), of(document))])


@pytest.fixture(scope="module")
def on_postgresql(
    postgresql_run: tuple[Lab, dict], server_place: Path
) -> Iterator[tuple[dict, list[Removal]]]:
    _, plain = postgresql_run
    with server_laboratory(server_place) as lab:
        document = lab.document("run", "tpch", *SMALL, *REMOVED, "--engine", POSTGRESQL)
        yield document, removals([(of(plain), of(document))])


@pytest.fixture(params=["on_duckdb", "on_postgresql"])
def asked(request: pytest.FixtureRequest) -> tuple[dict, list[Removal]]:
    return request.getfixturevalue(request.param)


def test_all_queries_run_and_their_answers_are_not_verified(
    asked: tuple[dict, list[Removal]],
) -> None:
    document, removal_rows = asked
    assert len(removal_rows) == 22
    assert all(operation["outcome"] == "ok" for operation in document["operations"])
    answers = {check["check"]: check for check in document["checks"]}["answers"]
    assert answers["verdict"] == "unknown"
    assert "--remove rewrote the queries without computation" in answers["reason"]


def test_what_is_left_reads_the_same_or_is_said_not_to(asked: tuple[dict, list[Removal]]) -> None:
    _, removal_rows = asked
    verdicts = {removal.operation: removal.verdict for removal in removal_rows}
    # Of so little data an optimiser may well choose another plan where there is less to compute.
    assert verdicts["q06"] == "reads the same"
    assert list(verdicts.values()).count("reads the same") >= 12
    assert all(removal.differs for removal in removal_rows if removal.verdict == "failed")
    assert "not known" not in verdicts.values()


def test_the_record_says_what_the_queries_lack(asked: tuple[dict, list[Removal]]) -> None:
    document, _ = asked
    facts = of(document).facts
    assert facts["request"]["remove"] == ["computation"]
    statement = facts["statements"]["q17"]
    assert statement["rewritten"]["removed"][0]["name"] == "computation"
    assert statement["rewritten"]["stays"] == ["avg(l_quantity)"]
    assert "touched_1" in statement["text"]


def test_parts_are_listed_and_unknown_ones_refused(tpch_run: tuple[Lab, dict]) -> None:
    lab, _ = tpch_run
    listed = lab.assay("workloads", "show", "tpch", "--operation", "q03")
    assert listed.returncode == 0
    assert "join:customer" in listed.stdout
    assert "predicate:1" in listed.stdout
    refused = lab.assay("run", "tpch", "--operation", "q06", "--remove", "sort")
    assert refused.returncode == 1
    assert "--remove sort is not possible for q06:" in " ".join(refused.stderr.split())


def test_answers_of_a_join_in_another_form_are_verified(shared: Path, tmp_path: Path) -> None:
    _, document = run_once(shared, tmp_path, "--operation", "q19", "--remove", "either-join")
    answers = {check["check"]: check for check in document["checks"]}["answers"]
    assert answers["verdict"] == "valid"
    assert "1 of 1 answers right" in answers["reason"]
    statement = of(document).facts["statements"]["q19"]
    assert "UNION ALL" in statement["text"]
    assert statement["rewritten"]["removed"][0]["name"] == "either-join"
