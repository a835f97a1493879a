"""Languages of operations, and how they are recognised.

The dialects of a run, in which files of a workload are searched, end with `sparql` where an engine
is asked in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Language = Literal["sql", "sparql"]
SQL: Language = "sql"
SPARQL: Language = "sparql"
LANGUAGES: tuple[Language, ...] = (SQL, SPARQL)
# Endings of files.
SUFFIXES: dict[Language, str] = {SQL: ".sql", SPARQL: ".rq"}


def language_of(dialects: Sequence[str]) -> Language:
    """The language that dialects are of."""
    return SPARQL if SPARQL in dialects else SQL


def suffix_of(dialects: Sequence[str]) -> str:
    """Return the file name suffix of queries in a dialect's language."""
    return SUFFIXES[language_of(dialects)]
