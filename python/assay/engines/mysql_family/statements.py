"""SQL statements from files: split, with names and values filled in."""

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
    """Return the statements of a file, without comments and separating semicolons."""
    return _SQL.split(sql)


def pieces(text: str) -> list[str | int]:
    """Return a statement split into texts and the indexes of its values."""
    return _SQL.pieces(text)


def bound(
    parts: Sequence[str | int], values: Sequence[object], literal: Callable[[object], str]
) -> str:
    """Return a statement with its values filled in as literals."""
    return "".join(part if isinstance(part, str) else literal(values[part]) for part in parts)


def file_text(name: str, conf: Path = CONF) -> str:
    """Return the SQL of a file in a directory `conf/`: the family's, or an engine's."""
    return (conf / name).read_text(encoding="utf-8").strip()


def filled(
    file: str,
    texts: Mapping[str, str] | None = None,
    plain: Mapping[str, str] | None = None,
    conf: Path = CONF,
    **names: str,
) -> str:
    """Return the SQL of a file in `conf` with names and texts quoted, and numbers plain."""
    values = {key: name_of(value) for key, value in names.items()}
    values |= {key: text_of(value) for key, value in (texts or {}).items()}
    values |= plain or {}
    return with_fields(file_text(file, conf), values)


def name_of(name: str) -> str:
    """Return a name quoted for MySQL."""
    return "`" + name.replace("`", "``") + "`"


def text_of(text: str) -> str:
    """Return text quoted and escaped for MySQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "''").replace("\0", "\\0")
    return f"'{escaped}'"
