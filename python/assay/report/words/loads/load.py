"""Phrases on the speed of loading rows into tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.model.units import count_text, rate_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Mapping


def load_words(load: Mapping[str, Any] | None) -> str | None:
    """Return a sentence on how fast the data was loaded; None if it was not."""
    if load is None or not load["rows"] or not load["seconds"]:
        return None
    rows, cpu_s = load["rows"], load["client_cpu_s"]
    client = "" if cpu_s is None else f", with {seconds_text(cpu_s / rows)} of client CPU a row"
    return (
        f"{count_text(rows)} rows were generated, sent and counted in "
        f"{seconds_text(load['seconds'])}:"
        f" {rate_text(rows / load['seconds'])}{client}. Keys and statistics were created "
        "afterwards."
    )
