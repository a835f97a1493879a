"""Words of an engine divide the sleep of its sessions."""

from __future__ import annotations

import polars as pl

from assay.analysis.waits.naming import WORDS, slept


def _slept_of(causes: list[str]) -> dict[str | None, float]:
    """Sleep by cause of a transfer that slept for 80 ns, beside which these words were told."""
    words = [{"cause": cause, "told_ns": 150} for cause in causes]
    short = {"operation": "transfer", "kind": "session", "state": "S", "by_kernel": "client"}
    span = short | {"started_ns": 100, "finished_ns": 110, "looked_ns": 80, "by_word": words}
    frame = slept(pl.DataFrame([span], schema_overrides={"by_word": WORDS}))
    return dict(frame.select("cause", "looked_ns").iter_rows())


def test_words_near_operations_too_short_for_any_are_theirs() -> None:
    assert _slept_of(["lock", "client"] * 3) == {"lock": 40.0, "client": 40.0}


def test_few_words_tell_no_cause_since_they_may_miss_the_largest() -> None:
    assert _slept_of(["client"] * 3) == {None: 80.0}


def test_without_any_word_it_is_the_kernels_cause() -> None:
    assert _slept_of([]) == {"client": 80.0}
