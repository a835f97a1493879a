"""A memory limit is the cause of reads only where it keeps the data out of memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.analysis.findings.memory import cold_cache, memory_limit
from tests.truths import GIB, fenced, from_storage


def test_it_stands_in_place_of_a_cold_cache() -> None:
    limited = fenced(0.7)
    assert [finding.method for finding in memory_limit.find(limited)] == ["memory-limit"]
    assert cold_cache.find(limited) == []


@pytest.mark.parametrize(
    "twin",
    [
        from_storage(0.7),
        fenced(0.7, hits=0.0),
        fenced(0.7, data_bytes=0.1 * GIB),
        replace(fenced(0.7), state="cold"),
    ],
    ids=["no limit", "never met", "the data fit", "read with any limit"],
)
def test_its_twins_are_a_cold_cache(twin) -> None:
    assert memory_limit.find(twin) == []
    assert [finding.method for finding in cold_cache.find(twin)] == ["cold-cache"]


def test_advice_of_memory_is_within_the_limit() -> None:
    assert fenced(0.7).memory_bytes == GIB
