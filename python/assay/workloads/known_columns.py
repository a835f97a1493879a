"""Finds the columns and views of a workload: in its scripts, or in the catalogue of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.model.declared import DeclaredColumns

    Tables = Mapping[str, DeclaredColumns]
    Types = Mapping[str, Mapping[str, str]]
    # Queries of views by name in lower case, or the statements that create them.
    Views = Mapping[str, str]
    Declared = tuple[Tables, Views]

# The functions import the SQL library, which takes a tenth of a second, only for runs that need it.


def declared(
    scripts: Iterable[str], dialects: Sequence[str], server_tables: Tables | None
) -> Declared:
    """Return the columns of tables, with their keys, and the queries of views.

    Args:
        scripts: Scripts of the workload's schema, which come before the catalogue.
        dialects: Dialects of the scripts.
        server_tables: Tables of a server; None if they are not known.
    """
    from assay.workloads.rewriting.declared import declared_tables
    from assay.workloads.rewriting.views import declared_views

    of_server, given = server_tables or {}, (tuple(scripts), tuple(dialects))
    queries = {name: table.query for name, table in of_server.items() if table.query is not None}
    return {**of_server, **declared_tables(*given)}, {**queries, **declared_views(*given)}


def column_types(
    scripts: Iterable[str], dialects: Sequence[str], server_tables: Tables | None
) -> Types:
    """Return column types by table, as all dialects write them.

    Args:
        scripts: Scripts of the workload's schema that all dialects share.
        dialects: Dialects of the server.
        server_tables: Tables of the server; None if they are not known.
    """
    from assay.workloads.rewriting.grammar import common_type, types_of

    of_server = {
        table: {name: common_type(kind, dialects) for name, kind in declared.types.items()}
        for table, declared in (server_tables or {}).items()
    }
    return {**of_server, **types_of(tuple(scripts), ())}
