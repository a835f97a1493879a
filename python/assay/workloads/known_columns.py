"""Finds the columns of a workload's tables: in its scripts, or in the catalogue of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.model.declared import DeclaredColumns

    Tables = Mapping[str, DeclaredColumns]
    Types = Mapping[str, Mapping[str, str]]

# The functions import the SQL library, which takes a tenth of a second, only for runs that need it.


def table_columns(
    scripts: Iterable[str], dialects: Sequence[str], server_tables: Tables | None
) -> Tables:
    """Return the columns of tables, with their keys.

    Args:
        scripts: Scripts of the workload's schema, which come before the catalogue.
        dialects: Dialects of the scripts.
        server_tables: Tables of a server; None if they are not known.
    """
    from assay.workloads.rewriting.declared import declared_tables

    return {**(server_tables or {}), **declared_tables(tuple(scripts), tuple(dialects))}


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
