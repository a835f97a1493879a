"""Counts the rows that updates write although they have the new values already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.catalogue import WrittenRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engines.plan_reading import CountsWrites

LIMIT_S = 2.0
# Rows of drawn values for which the rows of a statement are counted.
VALUES_MAX = 4


def written_rows(
    reader: CountsWrites,
    place: tuple[str, int],
    text: str,
    values: Sequence[Sequence[object]],
    grammar: str | None,
) -> WrittenRows | None:
    """Return how many rows a statement updates, and how many of them it changes.

    None if the statement updates no rows that could have the new values, or if the engine refuses
    to count them.

    Args:
        reader: Plan reader of the engine.
        place: Operation of the statement, and its position there.
        text: The statement, with places of values as `$1`.
        values: Values of the statement in several executions.
        grammar: SQL dialect of the statement, by its name in sqlglot.
    """
    # The parser is slow to import.
    from assay.workloads.rewriting.unchanged_rows import unchanged_count

    asked = unchanged_count(text, [] if grammar is None else [grammar])
    if asked is None:
        return None
    rows, changed = 0, 0
    # Without values, each execution meets the same rows.
    for row in values[: VALUES_MAX if asked.values else 1]:
        counted = reader.counts(asked.text, [row[place] for place in asked.values], LIMIT_S)
        if counted is None:
            return None
        rows, changed = rows + counted[0], changed + counted[1]
    return WrittenRows(*place, rows, changed)
