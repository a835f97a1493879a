"""A cache that is too small: how long its misses can take, and what else avoids them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from assay.analysis.findings.discovery import findings
from assay.analysis.findings.judging import judged
from assay.analysis.findings.memory import small_cache
from assay.model.finding import Advice, Evidence, Finding
from tests.cases import RUN, case, operation, passes
from tests.truths import counted

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case

PAGE_BYTES = 4096


PAST = {"settings": {"cache": {"name": "cache_size", "passed_by": "long rows"}}}


def reading(misses: float, system: float = 0.5, page_bytes: int = PAGE_BYTES) -> Case:
    """Ten seconds of one operation, whose kernel time nothing divides further."""
    counters = counted(
        buffer_hits=misses, buffer_reads=misses, buffer_read_bytes=misses * page_bytes
    )
    copying = operation(cpu_system=system, cpu_user=1 - system)
    times = passes({"q1": [5.0, 5.0]})
    return case(copying, counters=counters, executions=times, advice=PAST)


def test_missed_pages_take_the_kernels_time() -> None:
    (finding,) = small_cache.find(reading(3e6))
    assert finding.effect_share == pytest.approx(0.5)
    assert finding.settle is None


def test_waits_for_a_cpu_of_a_busy_host_are_no_reading() -> None:
    counters = counted(buffer_hits=1e6, buffer_reads=1e6, buffer_read_bytes=1e6 * PAGE_BYTES)
    copying = operation(cpu_system=0.14, cpu_user=0.25, run_queue=0.61)
    times = passes({"q1": [5.0, 5.0]})
    (finding,) = small_cache.find(case(copying, counters=counters, executions=times))
    assert finding.effect_share == pytest.approx(0.14)
    assert finding.saved == (pytest.approx(0.14), pytest.approx(0.14 / 0.39))
    assert finding.evidence[0].says == "14 % of the time was in the kernel"


def test_the_kernel_works_no_longer_for_missed_pages_than_copies_of_them_take() -> None:
    """Rows of 3 kB in pages of 512 bytes: SQLite reads most of a row past its cache."""
    (finding,) = small_cache.find(reading(2e6, page_bytes=512))
    assert finding.effect_share == pytest.approx((2e6 * 0.5e-6 + 2e6 * 512 / 2e9) / 10)
    assert finding.settle is not None
    assert small_cache.find(reading(5e5, page_bytes=512)) == []


def test_an_engine_that_reads_all_through_its_cache_may_take_longer_for_a_page() -> None:
    """InnoDB reads through threads of its own, which took the kernel 37 us for a page of 16 KiB."""
    whole = replace(reading(1e5), advice={"settings": {"cache": {"name": "pool"}}})
    (finding,) = small_cache.find(whole)
    assert finding.effect_share == pytest.approx(0.5)
    assert finding.settle is None


def index_of(effect: float, operation_name: str = "q1") -> Finding:
    made = Finding("An index is missing", effect, None, (RUN,), "missing-index", part="computing")
    advice = Advice("index", "t", {"columns": "a"}, effect)
    evidence = (Evidence("a scan", f"plan:{operation_name}"),)
    fractions = {operation_name: effect}
    return replace(made, advice=advice, evidence=evidence, fractions=fractions)


@pytest.mark.parametrize(
    ("index", "certainty"),
    [
        (index_of(0.9), "suspected"),
        # It saves less than the cache, or in another operation.
        (index_of(0.3), "seen"),
        (index_of(0.9, "q2"), "seen"),
    ],
)
def test_a_cache_is_suspected_where_an_index_reads_fewer_pages(
    index: Finding, certainty: str
) -> None:
    (cache,) = small_cache.find(run_case := reading(3e6))
    first = judged(run_case, [cache, index]).findings[0]
    assert (first.method, first.certainty) == ("small-cache", certainty)
    assert (index.key in (first.settle or "")) is (certainty == "suspected")


def test_a_cache_is_suspected_if_the_statement_reads_rows_in_vain() -> None:
    (cache,) = small_cache.find(run_case := reading(3e6))
    groups = replace(index_of(0.9), method="unused-groups", advice=None)
    first = judged(run_case, [cache, groups]).findings[0]
    assert first.certainty == "suspected"
    assert "change the statement first (unused-groups" in (first.settle or "")


def test_without_an_index_to_make_it_is_seen() -> None:
    (cache,) = [finding for finding in findings(reading(3e6)) if finding.method == "small-cache"]
    assert cache.certainty == "seen"
