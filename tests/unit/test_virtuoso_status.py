"""What the text of `status()` says: one of a real server, parts of it, and what is no such text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engines.virtuoso.status import parse_status

# After a run of TPC-H at SF 0.01 on Virtuoso 7.2.5 with 20,000 buffers.
TEXT = (Path(__file__).parent / "data" / "virtuoso-status.txt").read_text(encoding="utf-8")


def test_what_a_real_server_told() -> None:
    status = parse_status(TEXT)
    assert (status["buffers"], status["buffers_used"], status["buffers_dirty"]) == (20_000, 1035, 0)
    assert (status["disk_reads"], status["disk_writes"], status["read_ahead_pages"]) == (
        1131,
        158,
        28,
    )
    assert (status["clients"], status["connects"], status["clients_max"]) == (3, 6, 5)
    assert (status["deadlocks"], status["lock_waits"]) == (0, 0)
    assert (status["threads_running"], status["transactions_pending"]) == (1, 3)
    assert (status["gate_second_reads"], status["calls"], status["remap_pages"]) == (23, 1319, 38)
    assert (status["file_bytes"], status["pages"], status["pages_free"]) == (
        174_063_616,
        21_248,
        19_588,
    )


@pytest.mark.parametrize(
    ("gone", "absent"),
    [
        ("buffers,", "buffers_used"),
        ("reads avg", "disk_reads"),
        ("writes flush", "disk_writes"),
        ("deadlocks of", "lock_waits"),
        ("\nClient 127", "clients"),
    ],
)
def test_a_sentence_in_other_words_has_no_figures_and_others_keep_theirs(
    gone: str, absent: str
) -> None:
    assert absent in parse_status(TEXT)
    status = parse_status(TEXT.replace(gone, "\nelse "))
    assert absent not in status
    assert status["calls"] == 1319


@given(st.text())
def test_garbage_says_nothing(text: str) -> None:
    assert parse_status(text) == {}


@given(st.integers(0, len(TEXT)), st.integers(0, len(TEXT)), st.text(st.characters(codec="utf-8")))
def test_a_damaged_text_invents_no_name(at: int, to: int, put: str) -> None:
    status = parse_status(TEXT[: min(at, to)] + put + TEXT[max(at, to) :])
    assert status.keys() <= parse_status(TEXT).keys()


@given(st.integers(-(2**63), 2**64 - 1))
def test_a_figure_is_read_whatever_it_is(number: int) -> None:
    status = parse_status(f"Clients: {number} connects, max {'9' * 500} concurrent")
    assert status == {"connects": float(number)}
