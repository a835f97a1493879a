"""Terminal output of `assay generate`: the written data files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.model.units import bytes_text, rate_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SHORTEST_S = 1e-9


def file_lines(files: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a terminal line for each data file: path, rows, size, and rows per second."""
    for file in files:
        rate = rate_text(file["rows"] / max(file["seconds"], SHORTEST_S))
        yield f"{file['path']}  {file['rows']:,} rows  {bytes_text(file['bytes'])}  {rate}"
