"""Query languages of operations, and how dialects map to them.

Files of a workload are searched by the dialects of a run. If the engine is queried in SPARQL, the
last dialect is `sparql`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Language = Literal["sql", "sparql"]
SQL: Language = "sql"
SPARQL: Language = "sparql"
LANGUAGES: tuple[Language, ...] = (SQL, SPARQL)
# File name suffixes by language.
SUFFIXES: dict[Language, str] = {SQL: ".sql", SPARQL: ".rq"}


def language_of(dialects: Sequence[str]) -> Language:
    """Return the query language of some SQL or SPARQL dialects."""
    return SPARQL if SPARQL in dialects else SQL


def suffix_of(dialects: Sequence[str]) -> str:
    """Return the file name suffix of queries in a dialect's language."""
    return SUFFIXES[language_of(dialects)]
