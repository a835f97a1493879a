"""Finds the removable parts of a query, and rewrites the query without some of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from assay.model.errors import UsageError, suggestion
from assay.record.layout import ANALYZED, CHANGED_ROWS, COMPUTATION, SAME_RESULT, STORED_VIEWS
from assay.workloads.rewriting.grammar import grammar_of, parsed, written
from assay.workloads.rewriting.parameters import Masked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from assay.workloads.rewriting.blocks import Query
    from assay.workloads.rewriting.index_columns import IndexColumns
    from assay.workloads.rewriting.pieces import Piece
    from assay.workloads.rewriting.stored import StoredValue

T = TypeVar("T")
# Computations that a column of the table could hold, see `rewriting.stored`.
STORED_VALUES = "stored-values"
NOTHING: Mapping[str, Collection[str]] = {}
NO_VIEWS: Mapping[str, str] = {}


@dataclass(frozen=True)
class QueryPart:
    """A part of a query that can be removed, with its description.

    Attributes:
        name: Unique name in the query, such as `computation`, `sort`, `predicate:2` or
            `join:orders`.
        description: Text of the part in the query.
    """

    name: str
    description: str


@dataclass(frozen=True)
class Rewritten:
    """A query rewritten without some of its parts.

    Attributes:
        text: Text of the rewritten query.
        removed: Names of the removed parts.
        stays: Computations that stay because they select rows; only if the whole computation was
            removed.
    """

    text: str
    removed: tuple[QueryPart, ...]
    stays: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """Return the facts of a rewritten query as JSON values, without its text."""
        removed = [{"name": part.name, "words": part.description} for part in self.removed]
        return {"removed": removed, "stays": list(self.stays)}


def parts(
    text: str,
    dialects: Sequence[str],
    tables: Mapping[str, Collection[str]] = NOTHING,
    views: Mapping[str, str] = NO_VIEWS,
) -> list[QueryPart]:
    """Return the parts of a query, the whole computation first.

    Args:
        text: One query.
        dialects: Dialects of the engine in order of preference.
        tables: Columns by table. Without known columns, tables cannot be removed if the query uses
            their columns unqualified.
        views: Queries of views. Parts of a view that the query uses are its parts, too.

    Raises:
        UsageError: If the text is not exactly one query, or if it cannot be parsed.
    """
    masked = Masked.of(text)
    found: dict[str, QueryPart] = {}
    for form in _forms(masked.text, dialects, views):
        for piece in _pieces(form, dialects, tables)[1]:
            part = QueryPart(piece.name, masked.restored(piece.description))
            found.setdefault(piece.name, part)
    return list(found.values())


def without(
    text: str,
    dialects: Sequence[str],
    names: Sequence[str],
    tables: Mapping[str, Collection[str]] = NOTHING,
    views: Mapping[str, str] = NO_VIEWS,
) -> Rewritten:
    """Return a query rewritten without the named parts.

    If the parts belong to a view, its query is written in the place of its name.

    Raises:
        UsageError: If the query has no such part, or cannot be rewritten.
    """
    masked = Masked.of(text)
    if list(names) == [CHANGED_ROWS]:
        return _changed_rows_only(masked, dialects)
    if list(names) == [STORED_VIEWS]:
        return _with_stored_views(masked, dialects, views)
    if all(name.startswith(f"{ANALYZED}:") for name in names):
        return _with_statistics(masked, dialects, names)
    return _first_possible(
        lambda form: _without(replace(masked, text=form), dialects, names, tables),
        _forms(masked.text, dialects, views),
    )


def _changed_rows_only(masked: Masked, dialects: Sequence[str]) -> Rewritten:
    from assay.workloads.rewriting.unchanged_rows import changed_rows_only

    text = masked.restored(changed_rows_only(masked.text, dialects))
    return Rewritten(text, (QueryPart(CHANGED_ROWS, "updates of rows that have the new values"),))


def _with_stored_views(
    masked: Masked, dialects: Sequence[str], views: Mapping[str, str]
) -> Rewritten:
    from assay.workloads.rewriting.views import with_stored_views

    text = masked.restored(with_stored_views(masked.text, views, dialects))
    return Rewritten(text, (QueryPart(STORED_VIEWS, "views that rank rows, read from tables"),))


def _with_statistics(masked: Masked, dialects: Sequence[str], names: Sequence[str]) -> Rewritten:
    from assay.workloads.temporary_statistics import with_statistics

    text, removed = masked.text, []
    for name in names:
        text, table = with_statistics(text, dialects, name.partition(":")[2])
        removed.append(QueryPart(name, f"the assumed number of rows of {table}"))
    return Rewritten(masked.restored(text), tuple(removed))


def _forms(text: str, dialects: Sequence[str], views: Mapping[str, str]) -> list[str]:
    """Return a query as it is, and with the queries of the views that it uses."""
    from assay.workloads.rewriting.views import with_views

    expanded = with_views(text, views, dialects)
    return [text] if expanded is None else [text, expanded]


def _first_possible(rewrite: Callable[[str], T], forms: Sequence[str]) -> T:
    """Return what a function returns for the first form of a query that it does not refuse.

    Raises:
        UsageError: The refusal of the first form, if the function refuses all.
    """
    refused: list[UsageError] = []
    for form in forms:
        try:
            return rewrite(form)
        except UsageError as error:
            refused.append(error)
    raise refused[0]


def _without(
    masked: Masked,
    dialects: Sequence[str],
    names: Sequence[str],
    tables: Mapping[str, Collection[str]],
) -> Rewritten:
    from assay.workloads.rewriting.blocks import Query
    from assay.workloads.rewriting.pieces import CHOSEN, chosen_piece

    query, pieces = _pieces(masked.text, dialects, tables)
    by_name = {piece.name: piece for piece in pieces}
    if STORED_VALUES in names:
        by_name[STORED_VALUES] = _stored_piece(query, dialects)
    chosen = [name for name in names if name.startswith(f"{CHOSEN}:")]
    by_name |= {name: chosen_piece(query, name, dialects) for name in chosen}
    for name in names:
        if name not in by_name and name not in SAME_RESULT:
            known = suggestion(name, list(by_name)) if by_name else "none can be removed from it"
            raise UsageError(f"the query has no part {name!r}: {known}")
    # Single parts are removed first, because the computation then covers the rest. Another form is
    # that of the query without them.
    ordered = sorted(
        dict.fromkeys(names), key=lambda name: (name in SAME_RESULT, name == COMPUTATION)
    )
    stays: tuple[str, ...] = ()
    for name in ordered:
        if name in SAME_RESULT:
            by_name[name] = _form(name, Query(query.tree, tables), dialects, masked)
        stays = by_name[name].remove() or stays
    removed = tuple(QueryPart(name, masked.restored(by_name[name].description)) for name in ordered)
    return Rewritten(
        masked.restored(written(query.tree, dialects)), removed, tuple(map(masked.restored, stays))
    )


def without_part(
    text: str,
    dialects: Sequence[str],
    name: str,
    tables: Mapping[str, Collection[str]] = NOTHING,
) -> Rewritten:
    """Return a query rewritten without one named part.

    Raises the errors of `without`.
    """
    return without(text, dialects, [name], tables)


def without_computation(
    text: str, dialects: Sequence[str], tables: Mapping[str, Collection[str]] = NOTHING
) -> Rewritten:
    """Return a query rewritten to read the same rows and compute nothing.

    Raises the errors of `without`.
    """
    return without(text, dialects, [COMPUTATION], tables)


def storable(
    text: str,
    dialects: Sequence[str],
    tables: Mapping[str, Collection[str]] = NOTHING,
    views: Mapping[str, str] = NO_VIEWS,
) -> tuple[list[StoredValue], list[str]]:
    """Return what columns could store of a query, and the columns that it then still reads.

    Raises:
        UsageError: If the text is not exactly one query, or if it computes nothing that a column
            could store.
    """
    from assay.workloads.rewriting.blocks import Query
    from assay.workloads.rewriting.stored import columns_left, stored_values

    masked = Masked.of(text)

    def stored(form: str) -> tuple[list[StoredValue], list[str]]:
        query = Query(parsed(form, dialects), tables)
        return stored_values(query, dialects), columns_left(query, dialects)

    try:
        return _first_possible(stored, _forms(masked.text, dialects, views))
    except UsageError as error:
        raise UsageError(masked.restored(str(error))) from error


def _stored_piece(query: Query, dialects: Sequence[str]) -> Piece:
    """Return the replacement of computations by columns, which `parts` does not list.

    The columns are not in the schema: something else must add them.
    """
    from assay.workloads.rewriting.pieces import Piece
    from assay.workloads.rewriting.stored import read_stored, stored_values

    computed = ", ".join(value.expression for value in stored_values(query, dialects))
    phrase = f"the computation of {computed}"
    return Piece(STORED_VALUES, phrase, partial(read_stored, query, dialects))


def _form(name: str, query: Query, dialects: Sequence[str], masked: Masked) -> Piece:
    """Return the part of a query that is written in another form, with the same result."""
    from assay.workloads.rewriting.forms import FORMS

    try:
        return FORMS[name](query, dialects)
    except UsageError as error:
        raise UsageError(masked.restored(str(error))) from error


def _pieces(
    text: str, dialects: Sequence[str], tables: Mapping[str, Collection[str]]
) -> tuple[Query, list[Piece]]:
    from assay.workloads.rewriting.blocks import Query
    from assay.workloads.rewriting.forms import forms_of
    from assay.workloads.rewriting.pieces import pieces_of

    query = Query(parsed(text, dialects), tables)
    return query, [*pieces_of(query, dialects), *forms_of(query, dialects)]


def indexes_for(
    text: str,
    dialects: Sequence[str],
    tables: Mapping[str, Collection[str]] = NOTHING,
    views: Mapping[str, str] = NO_VIEWS,
) -> list[IndexColumns]:
    """Return the indexes that a query could use, by its conditions, joins, order and groups.

    Conditions of views that the query uses count, too, and conditions on their columns.

    Raises:
        UsageError: If the text is not exactly one query, or if it cannot be parsed.
    """
    from assay.workloads.rewriting.blocks import Query
    from assay.workloads.rewriting.derived import with_outer_conditions
    from assay.workloads.rewriting.index_columns import index_columns

    form = _forms(Masked.of(text).text, dialects, views)[-1]
    merged = with_outer_conditions(parsed(form, dialects), tables, grammar_of(dialects))
    return index_columns(Query(merged, tables))
