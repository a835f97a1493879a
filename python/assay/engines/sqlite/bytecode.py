"""Which columns a statement takes out of rows, by the program that SQLite compiles it to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw.ext

from assay.engines.sqlite.database import script

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

OPENING = {"OpenRead", "OpenWrite", "ReopenIdx"}
COLUMN, ROW_NUMBER = "Column", {"Rowid", "IdxRowid"}
# Where a column is that is the row's number itself.
PLACE_OF_NUMBER = -1
# Others are temporary tables.
MAIN_DATABASE = 0


def columns_read(
    connection: apsw.Connection, text: str, values: Sequence[object]
) -> dict[str, list[str]]:
    """Columns that the program of a statement takes out of rows or entries of indexes, by table.

    Raises what apsw raises.
    """
    program = apsw.ext.query_info(connection, text, tuple(values), explain=True).explain or []
    places: dict[int, dict[int, tuple[str, str]]] = {}
    for root, table, place, name in connection.execute(script("stored_columns.sql")):
        places.setdefault(root, {})[place] = (table, name)
    cursors: dict[int, dict[int, tuple[str, str]]] = {}
    found: dict[str, list[str]] = {}
    for step in program:
        if step.p1 is None or step.p2 is None:
            continue
        if step.opcode in OPENING:
            cursors[step.p1] = places.get(step.p2, {}) if step.p3 == MAIN_DATABASE else {}
            continue
        if step.opcode == COLUMN:
            place = step.p2
        elif step.opcode in ROW_NUMBER:
            place = PLACE_OF_NUMBER
        else:
            continue
        known = cursors.get(step.p1, {}).get(place)
        if known is not None and known[1] not in found.setdefault(known[0], []):
            found[known[0]].append(known[1])
    return found
