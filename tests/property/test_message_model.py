"""The message model against counting: every message that a small cluster sends, one by one."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.cluster.message_model import (
    batch_messages,
    blocks_of,
    page_messages,
    shares_of,
)

hosts = st.lists(st.integers(1, 6), min_size=1, max_size=5)
TRIALS = 300


def test_the_published_cluster_is_met() -> None:
    # Four processes on two hosts.
    shares = shares_of((2, 2))
    assert (shares.local, shares.same_host, shares.other_host) == (0.25, 0.25, 0.5)
    assert shares.remote == 0.75


@given(hosts)
@settings(max_examples=80, deadline=None)
def test_shares_are_those_of_all_pairs(processes: list[int]) -> None:
    every = [(host, number) for host, own in enumerate(processes) for number in range(own)]
    pairs = [(finding, other) for finding in every for other in every]
    shares = shares_of(processes)
    local = sum(values == other for values, other in pairs)
    same = sum(values != other and values[0] == other[0] for values, other in pairs)
    assert shares.local == pytest.approx(local / len(pairs))
    assert shares.same_host == pytest.approx(same / len(pairs))
    assert shares.local + shares.same_host + shares.other_host == pytest.approx(1.0)
    # Of one host nothing goes elsewhere; of one process nothing goes anywhere.
    assert shares.other_host == pytest.approx(0.0, abs=1e-12) or len(processes) > 1
    assert shares.remote == pytest.approx(1 - 1 / len(every))


@given(st.integers(0, 3_000), st.integers(1, 400), st.integers(1, 60))
@settings(max_examples=120, deadline=None)
def test_batches_are_cut_for_each_recipient(values: int, batch: int, recipients: int) -> None:
    sent = 0
    for begun in range(0, values, batch):
        own = min(batch, values - begun)
        # Spread alike: as even as whole values can be.
        sent += len({value % recipients for value in range(own)})
    assert batch_messages(values, batch, recipients) == sent


@pytest.mark.parametrize(("maps", "reducers", "rows"), [(4, 8, 60), (2, 100, 400), (6, 3, 12)])
def test_blocks_that_hold_a_row_are_as_many_as_drawing_gives(
    maps: int, reducers: int, rows: int
) -> None:
    drawn = random.Random(5)
    sent = 0
    for _ in range(TRIALS):
        sent += len(Counter((at % maps, drawn.randrange(reducers)) for at in range(rows)))
    assert blocks_of(maps, reducers, rows) == pytest.approx(sent / TRIALS, rel=0.03)


@given(st.integers(1, 50), st.integers(1, 500), st.floats(0, 1e7))
@settings(max_examples=80, deadline=None)
def test_blocks_are_no_more_than_there_can_be(maps: int, reducers: int, rows: float) -> None:
    every = maps * reducers
    blocks = blocks_of(maps, reducers, rows)
    assert 0 <= blocks <= every * (1 + 1e-12)
    assert blocks <= max(rows, 0.0) * (1 + 1e-9) or rows < maps
    assert blocks_of(maps, reducers) == every
    assert blocks_of(maps, reducers, 1e9) == pytest.approx(every, rel=1e-6)


def test_pages_are_full_at_the_limit_that_comes_first() -> None:
    # 1,000 rows of 100 bytes are 100,000 bytes.
    assert page_messages(1_000, 100, 10_000, None, 1) == 10
    assert page_messages(1_000, 100, 10_000, 50, 1) == 20
    assert page_messages(1_000, 100, None, None, 4) == 4
    # Every channel has a page of its own, as far as there are rows.
    assert page_messages(1_000, 100, 1_000_000, None, 8) == 8
    assert page_messages(3, 100, 1_000_000, None, 8) == 3
    assert page_messages(0, 100, 1_000, None, 8) == 0
