"""The columns of a table as its schema declares them: types, columns never null, and keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


@dataclass(frozen=True)
class DeclaredColumns(Collection[str]):
    """Columns of a table as its schema declares them; iterates over their names.

    Attributes:
        types: Types of the columns in the engine's grammar, by name in lower case.
        required: Columns that are never null.
        keys: Columns that together have different values in each row, unless one is null.
        query: Query of a view, or the statement that creates it; None for a table.
    """

    types: Mapping[str, str]
    required: frozenset[str] = frozenset()
    keys: tuple[tuple[str, ...], ...] = ()
    query: str | None = None

    def __contains__(self, name: object) -> bool:
        return name in self.types

    def __iter__(self) -> Iterator[str]:
        return iter(self.types)

    def __len__(self) -> int:
        return len(self.types)

    def unique_in(self, names: Collection[str]) -> bool:
        """Return True if no two rows of the table have the same values in these columns."""
        return any(self.required.issuperset(key) and set(key) <= set(names) for key in self.keys)


@dataclass(frozen=True)
class CatalogueColumn:
    """One column of a table or view, as the engine's catalogue has it.

    Attributes:
        table: Exact name of the table.
        name: Exact name of the column.
        type: Its type in the engine's grammar.
        required: Whether the engine ensures that it is never null.
    """

    table: str
    name: str
    type: str
    required: bool


def tables_of_catalogue(
    columns: Iterable[CatalogueColumn],
    keys: Iterable[tuple[str, Sequence[str]]],
    views: Iterable[tuple[str, str]] = (),
) -> dict[str, DeclaredColumns]:
    """Return the tables of an engine's catalogue by name in lower case.

    Tables whose names differ only in case are left out, and tables with such columns.

    Args:
        columns: Columns of all tables.
        keys: Exact name of the table, and exact names of the columns, of each key.
        views: Exact name of each view, and its query or the statement that creates it.
    """
    by_table: dict[str, dict[str, CatalogueColumn]] = {}
    for column in columns:
        by_table.setdefault(column.table, {})[column.name] = column
    keys_by_table: dict[str, list[tuple[str, ...]]] = {}
    for table, key in keys:
        if set(key) <= by_table.get(table, {}).keys():
            keys_by_table.setdefault(table, []).append(tuple(name.lower() for name in key))
    queries = dict(views)
    return {
        table.lower(): DeclaredColumns(
            {name.lower(): column.type for name, column in by_table[table].items()},
            frozenset(name.lower() for name, column in by_table[table].items() if column.required),
            tuple(dict.fromkeys(keys_by_table.get(table, ()))),
            queries.get(table),
        )
        for table in _distinct(by_table)
        if len(_distinct(by_table[table])) == len(by_table[table])
    }


def _distinct(names: Collection[str]) -> list[str]:
    """Return the names without those that differ from another one only in case."""
    counts = Counter(name.lower() for name in names)
    return [name for name in names if counts[name.lower()] == 1]
