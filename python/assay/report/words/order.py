"""Phrases on the order in which rows and tables were loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.report.documents.host.conditions import ConditionsSection

# If more tables were ordered, a title names only the first and the last.
TABLES_NAMED = 3


def order_words(conditions: ConditionsSection, *, brief: bool = False) -> list[str]:
    """Return phrases for a title or a sentence; empty if the run requested no order.

    Args:
        conditions: Conditions of the document.
        brief: Whether a long order of tables is shortened to its first and last table.
    """
    parts = [
        f"{table} sorted by {', '.join(columns)}"
        for table, columns in conditions["sorted_by"].items()
    ]
    tables = conditions["load_order"]
    if brief and len(tables) > TABLES_NAMED:
        parts.append(f"loaded from {tables[0]} to {tables[-1]}")
    elif tables:
        parts.append(f"loaded in the order {', '.join(tables)}")
    return parts


def order_sentences(conditions: ConditionsSection) -> str:
    """Return sentences on the order of loading, with a space at the end; empty without one."""
    sentences = []
    for table, columns in conditions["sorted_by"].items():
        by = ", ".join(columns)
        sentences.append(f"Rows of {table} were sorted by {by} before they were loaded.")
    if conditions["order_note"]:
        sentences.append(
            f"{conditions['order_note']}, regardless of the order in which rows arrive."
        )
    if conditions["load_order"]:
        tables = ", ".join(conditions["load_order"])
        sentences.append(f"Tables were loaded one after another: {tables}.")
    return "".join(f"{sentence} " for sentence in sentences)
