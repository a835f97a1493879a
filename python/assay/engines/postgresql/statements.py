"""Prepares SQL for PostgreSQL: splits files, and fills in names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.postgres_family.statements import SQL, composed

if TYPE_CHECKING:
    from psycopg.sql import Composed

CONF = Path(__file__).parent / "conf"


def split(sql: str) -> list[str]:
    """Return the statements of a file, without comments and separating semicolons."""
    return SQL.split(sql)


def file_text(name: str) -> str:
    """Return the SQL text of a file in the `conf/` folder of the engine PostgreSQL."""
    return (CONF / name).read_text(encoding="utf-8").strip()


def filled(file: str, **values: str) -> Composed:
    """Return the SQL of a file in `conf/` with names; `mark` is a text, anything else a name."""
    return composed(file_text(file), **values)
