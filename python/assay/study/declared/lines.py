"""Finds the line of a key in a TOML file, for error messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_WORD = r"""(?:[\w-]+|"[^"]*"|'[^']*')"""
_KEY = rf"{_WORD}(?:\s*\.\s*{_WORD})*"
_HEADER = re.compile(rf"\s*\[(\[?)\s*({_KEY})\s*\]")
_ASSIGNED = re.compile(rf"\s*({_KEY})\s*=")


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """Return the line, from 1, of a key, or of the nearest table around it.

    Args:
        text: Text of the file.
        path: Keys from the outermost on; numbers are list positions from 0.
    """
    wanted = tuple(str(key) for key in path)
    nearest, shared = None, 0
    for number, here in _keys(text):
        length = len(here)
        if length > shared and here == wanted[:length]:
            nearest, shared = number, length
    return nearest


def _keys(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield every key and header of a TOML text with its line number."""
    table: tuple[str, ...] = ()
    counted: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            is_of_list = bool(header[1])
            table = _within(_parts(header[2]), counted, is_of_list=is_of_list)
            if is_of_list:
                counted[table] = counted.get(table, -1) + 1
                table = (*table, str(counted[table]))
            yield number, table
        elif assigned := _ASSIGNED.match(line):
            yield number, (*table, *_parts(assigned[1]))


def _within(
    keys: tuple[str, ...], counted: Mapping[tuple[str, ...], int], *, is_of_list: bool
) -> tuple[str, ...]:
    """Return the path of a TOML table, with the latest index of each enclosing list."""
    place: tuple[str, ...] = ()
    for at, key in enumerate(keys, 1):
        place = (*place, key)
        if place in counted and not (is_of_list and at == len(keys)):
            place = (*place, str(counted[place]))
    return place


def _parts(key: str) -> tuple[str, ...]:
    return tuple(word.strip("\"'") for word in re.findall(_WORD, key))
