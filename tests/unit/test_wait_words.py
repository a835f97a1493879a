"""Words of an engine divide the sleep of its sessions."""

from __future__ import annotations

import polars as pl

from assay.analysis.waits.naming import WORDS, slept

COLUMNS = {"by_word": WORDS, "without_word": pl.String}


def _slept_of(
    causes: list[str],
    *,
    state: str = "S",
    by_kernel: str = "client",
    confirmed: bool = True,
) -> dict[str | None, float]:
    """Sleep by cause of a transfer that slept for 80 ns, beside which these words were told."""
    words = [{"cause": cause, "event_ns": 150} for cause in causes]
    short = {"operation": "transfer", "kind": "session", "state": state, "by_kernel": by_kernel}
    span = short | {"started_ns": 100, "finished_ns": 110, "looked_ns": 80, "by_word": words}
    span["without_word"] = by_kernel if confirmed else None
    frame = slept(pl.DataFrame([span], schema_overrides=COLUMNS))
    return dict(frame.select("cause", "looked_ns").iter_rows())


def test_words_near_operations_too_short_for_any_are_theirs() -> None:
    assert _slept_of(["lock", "client"] * 3) == {"lock": 40.0, "client": 40.0}


def test_few_words_tell_no_cause_since_they_may_miss_the_largest() -> None:
    assert _slept_of(["client"] * 3) == {None: 80.0}


def test_without_any_word_it_is_the_kernels_cause() -> None:
    assert _slept_of([]) == {"client": 80.0}


def test_words_divide_writes_into_log_and_data() -> None:
    causes = ["log"] * 3 + ["disk_write"]
    assert _slept_of(causes * 2, state="D", by_kernel="disk_write") == {
        "log": 60.0,
        "disk_write": 20.0,
    }


def test_few_words_leave_a_write_a_write() -> None:
    assert _slept_of(["log"] * 3, state="D", by_kernel="disk_write") == {"disk_write": 80.0}


def test_a_lock_that_the_engine_would_have_reported_is_no_lock_without_its_word() -> None:
    assert _slept_of([], by_kernel="lock", confirmed=False) == {None: 80.0}
