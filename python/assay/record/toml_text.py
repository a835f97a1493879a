"""TOML as a person would write it, of values that have a place in TOML. None is left out."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BARE = re.compile(r"[A-Za-z0-9_-]+")
# What a text in three quotes may not hold: other control characters, and its own end.
_NOT_LITERAL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]|'''|'\Z")
_DELETE = "\x7f"


def toml_text(document: Mapping[str, Any], comment: str = "") -> str:
    """The document, after lines of comment.

    Raises:
        TypeError: For a value that has no place in TOML.
    """
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines += [""] if lines else []
    return "\n".join([*lines, *_table(document, ())]).rstrip("\n") + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Plain values first, because what stands behind a header belongs to it."""
    held = {key: value for key, value in table.items() if value is not None}
    for key, value in held.items():
        if not isinstance(value, dict) and not _is_tables(value):
            yield f"{_key(key)} = {_value(value)}"
    for key, value in held.items():
        inner = (*path, key)
        if isinstance(value, dict):
            if any(not isinstance(one, dict) for one in value.values()) or not value:
                yield from ("", f"[{'.'.join(map(_key, inner))}]")
            yield from _table(value, inner)
        elif _is_tables(value):
            for one in value:
                yield from ("", f"[[{'.'.join(map(_key, inner))}]]")
                yield from _table(one, inner)


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        if "\n" in value and not _NOT_LITERAL.search(value):
            return f"'''\n{value}'''"
        return _text(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"{value!r} has no place in TOML")


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace(_DELETE, "\\u007f")
