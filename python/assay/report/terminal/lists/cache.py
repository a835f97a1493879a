"""Terminal output of cached data sets: size, last use, name."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from assay.model.units import bytes_text, duration_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def listed_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line per data set, least recently used first, and their total size."""
    for dataset in document["datasets"]:
        yield _line(dataset)
    yield _total(document)


def pruned_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the removed data sets and the remaining ones."""
    for dataset in document["removed"]:
        yield f"removed {_line(dataset)}"
    for name in document["debris"]:
        yield f"removed, left by a killed process: {name}"
    yield _total(document)


def _line(dataset: Mapping[str, Any]) -> str:
    age_s = max(0.0, time.time() - dataset["used_s"])
    used = f"{_age(age_s)} ago"
    return f"{bytes_text(dataset['bytes']):>9}  used {used:<16}  {dataset['name']}"


def _age(seconds: float) -> str:
    days = int(seconds // 86_400)
    return f"{days} d" if days else duration_text(seconds)


def _total(document: Mapping[str, Any]) -> str:
    count = len(document["datasets"])
    kept, limit = bytes_text(document["bytes"]), bytes_text(document["limit_bytes"])
    sets = "1 data set" if count == 1 else f"{count} data sets"
    return f"{kept} in {sets}, of {limit} that they may take: {document['directory']}"
