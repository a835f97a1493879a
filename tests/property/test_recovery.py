"""What is told of lost and found operations, beside a history that is known to its last event."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.answers.recovery import ReceiptCount, compared

KEYS = st.tuples(st.integers(1, 2), st.integers(1, 4))
# One after another: a key that was acknowledged, whether it was lost again, and how much later.
HISTORIES = st.lists(st.tuples(KEYS, st.booleans(), st.integers(0, 2)), max_size=40)


def table(keys: list[tuple[int, int]], times: list[int] | None = None) -> pl.DataFrame:
    columns = {"w_id": [key[0] for key in keys], "o_id": [key[1] for key in keys]}
    columns_of = {"finished_ns": times, **columns} if times is not None else columns
    return pl.DataFrame(columns_of, schema=dict.fromkeys(columns_of, pl.Int64))


@given(HISTORIES, st.sets(KEYS), st.one_of(st.none(), st.integers(0, 50)))
def test_each_answer_is_found_or_lost(
    history: list[tuple[tuple[int, int], bool, int]],
    unanswered: set[tuple[int, int]],
    before_ns: int | None,
) -> None:
    now, times, keys = 0, [], []
    for key, _, later in history:
        now += later
        times.append(now)
        keys.append(key)
    there = {key for key, is_lost, _ in history if not is_lost} | unanswered
    asked = [
        key for key, time in zip(keys, times, strict=True) if before_ns is None or time < before_ns
    ]

    count = compared(table(keys, times), table(sorted(there)), before_ns)

    # Of a key that was given out several times one row is there, which is of one of its answers.
    kept_count = len(set(asked) & there)
    assert (count.acknowledged, count.kept) == (len(asked), kept_count)
    assert count.lost == len(asked) - kept_count
    assert count.unacknowledged == len(there) - kept_count
    assert len(count.first_lost) == min(10, count.lost)
    assert set(count.first_lost) <= set(asked)


@given(st.lists(KEYS, unique=True), st.sets(KEYS))
def test_keys_that_are_gone_are_named_in_the_order_of_their_answers(
    keys: list[tuple[int, int]], lost: set[tuple[int, int]]
) -> None:
    there = [key for key in keys if key not in lost]
    count = compared(table(keys, list(range(len(keys)))), table(there))
    assert count.first_lost == tuple(key for key in keys if key in lost)
    first = next((time for time, key in enumerate(keys) if key in lost), None)
    assert count.lost_from_ns == first


def test_nothing_is_there_of_a_database_that_could_not_be_asked() -> None:
    count = compared(table([(1, 1), (1, 2)], [5, 6]), None)
    assert count == ReceiptCount(2, 0, 2, 0, ((1, 1), (1, 2)), lost_from_ns=5)


def test_a_key_that_was_acknowledged_twice_was_lost_once() -> None:
    count = compared(table([(1, 1), (1, 1)], [5, 6]), table([(1, 1)]))
    assert (count.kept, count.lost, count.first_lost) == (1, 1, ((1, 1),))
