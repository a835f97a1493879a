"""Writes values as readable TOML. Keys whose value is None are left out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import tomli_w

if TYPE_CHECKING:
    from collections.abc import Mapping


def toml_text(document: Mapping[str, Any], comment: str = "") -> str:
    """Return a TOML document that begins with lines of comment.

    Raises:
        TypeError: If TOML has no form for a value.
    """
    lines = [f"# {line}".rstrip() + "\n" for line in comment.splitlines()]
    held = _held(document)
    # A multi-line string in TOML would make all its line endings the same.
    text = tomli_w.dumps(held, multiline_strings="\\r" not in json.dumps(held, default=repr))
    return "".join([*lines, "\n" if lines else "", text])


def _held(value: Any) -> Any:  # noqa: ANN401 - whatever has a place in TOML
    """Return a value without None entries, because TOML has no null."""
    if isinstance(value, dict):
        return {key: _held(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_held(inner) for inner in value]
    return value
