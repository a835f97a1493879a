"""Reads the schema of a user's tables from the server's catalogue, for runs without scripts of it.

Rewritten queries and findings need types, columns never null, and keys. The catalogue is read once,
before the run's statements are prepared.
"""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.engines.checking import ReadsDeclarations
from assay.engines.contract import EngineError
from assay.running.asked.played import BEFORE, played_statements
from assay.running.asked.preflight import made_names
from assay.workloads.choosing import with_all_parts, with_server_tables
from assay.workloads.queries import tables_without_schema
from assay.workloads.rewriting.grammar import grammar_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Engine, Instance
    from assay.model.declared import DeclaredColumns
    from assay.running.asked.asked_run import Asked
    from assay.running.asked.request import RunRequest
    from assay.workloads.contract import Workload

log = logging.getLogger(__name__)

# Maximum number of views within views.
DEPTH_MAX = 8
# Beginning of a statement after which a table, or the table with a name, may be another one.
CHANGES = re.compile(
    rf"{BEFORE.pattern}(?:(?:alter|attach|detach|drop|rename|use)\b"
    r"|set\b.*\b(?:schema|search_path)\b)",
    re.IGNORECASE | re.DOTALL,
)


def has_server_tables(request: RunRequest, workload: Workload, behaviour: Engine) -> bool:
    """Return True if a run queries a user's tables, whose schema the engine's catalogue has."""
    is_of_others = request.dsn is not None and not workload.makes_data
    return is_of_others and isinstance(behaviour, ReadsDeclarations)


def with_tables_of(asked: Asked, instance: Instance) -> Asked:
    """Return the run with the tables of the server, if they were not read yet."""
    if asked.workload.server_tables is not None:
        return asked
    tables = _read_tables(asked, instance)
    return replace(asked, workload=with_server_tables(asked.workload, tables))


def _read_tables(asked: Asked, instance: Instance) -> Mapping[str, DeclaredColumns]:
    """Return the tables that the run's statements name; empty if they cannot be read."""
    names = _names(replace(asked, workload=with_all_parts(asked.workload)))
    tables: dict[str, DeclaredColumns] = {}
    if not isinstance(asked.behaviour, ReadsDeclarations):
        return tables
    for _ in range(DEPTH_MAX):
        # Views name further tables and views.
        if not names:
            break
        try:
            found = asked.behaviour.declared_tables(instance, names)
        except EngineError as error:
            log.info("the schema of the tables could not be read: %s", error)
            break
        tables |= found
        queries = [table.query for table in found.values() if table.query is not None]
        names = tables_without_schema(queries, grammar_of(asked.dialects)) - tables.keys()
    return tables


def _names(asked: Asked) -> frozenset[str]:
    """Return the tables that a run's statements name without a schema and do not change."""
    texts = [statement.text for each in played_statements(asked) for statement in each]
    if any(map(CHANGES.match, texts)):
        return frozenset()
    return tables_without_schema(texts, grammar_of(asked.dialects)) - made_names(texts)
