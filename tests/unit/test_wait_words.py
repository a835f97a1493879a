"""Words of an engine divide the sleep of its sessions."""

from __future__ import annotations

import polars as pl

from assay.analysis.waits.naming import WORDS, slept


def test_words_near_operations_too_short_for_any_are_theirs() -> None:
    waits = [{"cause": "lock", "told_ns": 150}, {"cause": "client", "told_ns": 160}]
    short = {"operation": "transfer", "kind": "session", "state": "S", "by_kernel": "client"}
    span = short | {"started_ns": 100, "finished_ns": 110, "looked_ns": 80, "by_word": waits}
    frame = slept(pl.DataFrame([span], schema_overrides={"by_word": WORDS}))
    assert dict(frame.select("cause", "looked_ns").iter_rows()) == {"lock": 40.0, "client": 40.0}
