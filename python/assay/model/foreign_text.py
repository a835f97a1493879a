"""Reads and prints untrusted text: TOML files, and quoted parts of messages."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Maximum length of a word in a message, and the length shown of a longer one.
WORD_MAX, WORD_SHOWN = 400, 60
# Control characters, characters that change text direction, and surrogates.
UNSEEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
LONG_WORD = re.compile(rf"\S{{{WORD_MAX},}}")


def parse_toml(text: str) -> dict[str, Any]:
    """Return a parsed TOML document.

    Raises:
        ValueError: If the text is not valid TOML, is nested too deep, or has a control character in
            a key or string.
    """
    try:
        document = tomllib.loads(text)
        if any(UNSEEN.search(word) for word in _texts(document)):
            raise ValueError("a key or a text in quotes contains a control character")
    except RecursionError:
        raise ValueError("the values are nested too deep") from None
    return document


def _texts(value: object) -> Iterator[str]:
    """Yield every key and text in a parsed document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def read_regular(path: Path) -> bytes:
    """Return the bytes of a regular file.

    Pipes and devices are refused, because reading them may not end.

    Raises:
        OSError: If the file cannot be read, or is not a regular file.
    """
    if path.exists() and not path.is_file():
        raise OSError(0, "it is no regular file")
    return path.read_bytes()


def shown(message: str) -> str:
    """Return a message with long words truncated and control characters escaped."""
    cut = LONG_WORD.sub(
        lambda word: f"{word[0][:WORD_SHOWN]}... ({len(word[0]):,} characters)", message
    )
    return visible(cut)


def visible(text: str) -> str:
    """Return text with control characters escaped, so that no terminal executes them."""
    return UNSEEN.sub(lambda letter: _code(letter[0]), text)


def _code(letter: str) -> str:
    """Return a character as Python's escape of it, such as `\\x1b`."""
    return letter.encode("unicode_escape").decode("ascii")
