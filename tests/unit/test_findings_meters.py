"""Findings from meters of look-ups and of indexes, at the figures that an article has of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.analysis.counters.meters import parse_activity
from assay.analysis.findings.case import Case
from assay.analysis.findings.discovery import findings, methods
from assay.analysis.host.accounts import Accounts
from assay.model.finding import Finding
from tests.cases import case, operation
from tests.unit.test_meters import AT_1000_MT

# "Benchmarks, Redux": touches and reads of the steady state.
STEADY: list[dict[str, Any]] = [
    {"object": "RDF_OBJ", "holds": "literals", "touches": 30155789.0, "reads": 79659.0},
    {"object": "RDF_QUAD", "holds": "quads", "touches": 259008064.0, "reads": 8904.0},
    {"object": "RDF_QUAD.RDF_QUAD_SP", "holds": "quads", "touches": 68002.0, "reads": 7730.0},
    {"object": "RDF_IRI", "holds": "iris", "touches": 12.0, "reads": 5415.0},
    {"object": "OTHER", "holds": None, "touches": 90.0, "reads": 1.0},
]
# Its look-ups' line tells of 298,600 threads; with so much CPU time each had 10 ms.
CPU_S = 2986.0


def published(**changes: Any) -> Case:
    counters = {
        "activity": {"counted": parse_activity(AT_1000_MT)},
        "index_work": STEADY,
        "counters": [],
    }
    return case(operation(), counters=counters | changes, accounts=accounts(CPU_S))


def accounts(engine_s: float) -> Accounts:
    return Accounts(
        window_s=1000.0,
        cpus=16,
        by_process={"engine": engine_s},
        busy_s=engine_s,
        idle_s=0.0,
        steal_s=0.0,
    )


def finding_of(method: str, of: Case) -> Finding:
    (finding,) = methods()[method](of)
    assert (finding.tells, finding.method) == ("shape", method)
    assert finding.evidence
    return finding


def test_look_ups_read_two_rows_and_most_fall_on_the_page_before() -> None:
    finding = finding_of("look-ups", published())
    assert "1.93 rows" in finding.claim
    assert "77 % of look-ups hit the same page as the previous look-up:" in finding.claim
    assert "1.674G look-ups, 3.223G rows" in finding.claim
    assert finding.effect_share == pytest.approx((1.286 + 0.3148) / 1.674)


def test_the_index_that_misses_most_is_named_and_the_one_that_is_read_most() -> None:
    finding = finding_of("index-misses", published())
    assert finding.claim.startswith("Index RDF_QUAD_SP misses the cache most: 11.4 pages")
    assert "most pages belong to RDF_OBJ, 78 %" in finding.claim
    assert not any("RDF_IRI" in evidence.says for evidence in finding.evidence), (
        "its rows were not counted"
    )


def test_what_is_read_is_literals_first() -> None:
    finding = finding_of("literals", published())
    assert finding.claim.startswith("78 % of the pages read hold literals, 16 % statements")
    assert finding.effect_share == pytest.approx(79659 / (79659 + 8904 + 7730 + 5415))


def test_work_of_a_forked_thread_is_told_against_what_makes_one_worth_it() -> None:
    finding = finding_of("forks", published())
    assert "298.6K threads" in finding.claim
    assert "at most 10 ms of CPU time" in finding.claim
    assert "less than" not in finding.claim
    less = finding_of("forks", replace(published(), accounts=accounts(298.6)))
    assert "less than the 5 ms" in less.claim


@pytest.mark.parametrize("method", ["look-ups", "index-misses", "literals", "forks"])
def test_of_little_or_of_nothing_nothing_is_claimed(method: str) -> None:
    few = dict.fromkeys(("rnd", "seq", "same pg", "fork"), 9.0)
    little = [row | {"reads": 5.0} for row in STEADY]
    find = methods()[method]
    assert find(published(activity={"counted": few}, index_work=little)) == []
    assert find(published(activity=None, index_work=None)) == []
    assert find(replace(published(), counters=None)) == []


def test_an_engine_without_triples_has_no_literals() -> None:
    tables = [row | {"holds": None} for row in STEADY]
    assert methods()["literals"](published(index_work=tables)) == []
    assert {"index-misses"} <= {
        finding.method for finding in findings(published(index_work=tables))
    }
