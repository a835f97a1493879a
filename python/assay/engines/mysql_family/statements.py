"""Statements of SQL files: split, with names filled in, and with values in their places."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.sql_text import SqlText, with_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

CONF = Path(__file__).parent / "conf"

_SQL = SqlText(
    comment=r"""--(?=\s|$)[^\n]* | \#[^\n]* | /\*(?!!).*?\*/""",
    opaque=r"""'(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" | `(?:[^`]|``)*`""",
)


def split(sql: str) -> list[str]:
    """The statements of a file, without comments and the semicolons between them."""
    return _SQL.split(sql)


def pieces(text: str) -> list[str | int]:
    """A statement cut where values go: texts, and between them which value, from 0."""
    return _SQL.pieces(text)


def bound(
    parts: Sequence[str | int], values: Sequence[object], literal: Callable[[object], str]
) -> str:
    """The statement with each value where it belongs, as `literal` writes it."""
    return "".join(part if isinstance(part, str) else literal(values[part]) for part in parts)


def file_text(name: str, conf: Path = CONF) -> str:
    """The SQL of a file in a directory `conf/`: that of the family, or an engine's."""
    return (conf / name).read_text(encoding="utf-8").strip()


def filled(
    file: str,
    texts: Mapping[str, str] | None = None,
    plain: Mapping[str, str] | None = None,
    conf: Path = CONF,
    **names: str,
) -> str:
    """The SQL of a file in `conf`: names and texts quoted as what they are, numbers plain."""
    values = {key: name_of(value) for key, value in names.items()}
    values |= {key: text_of(value) for key, value in (texts or {}).items()}
    values |= plain or {}
    return with_fields(file_text(file, conf), values)


def name_of(name: str) -> str:
    """A name, quoted."""
    return "`" + name.replace("`", "``") + "`"


def text_of(text: str) -> str:
    """A text, quoted and escaped."""
    escaped = text.replace("\\", "\\\\").replace("'", "''").replace("\0", "\\0")
    return f"'{escaped}'"
