"""In which order rows and tables were loaded, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.report.documents.host.conditions import ConditionsSection

# Of a longer order of tables a title names the first and the last: these are what it was asked for.
TABLES_NAMED = 3


def order_words(conditions: ConditionsSection, *, brief: bool = False) -> list[str]:
    """Parts of a title or a sentence; empty if the run asked for no order.

    Args:
        conditions: Conditions of the document.
        brief: Whether a long order of tables is told by its ends.
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
    """Return sentences on the order in which data were loaded; empty, or ending in a space."""
    sentences = []
    for table, columns in conditions["sorted_by"].items():
        by = ", ".join(columns)
        sentences.append(f"Rows of {table} were sorted by {by} before they were loaded.")
    if conditions["order_note"]:
        sentences.append(f"{conditions['order_note']}, however rows come.")
    if conditions["load_order"]:
        tables = ", ".join(conditions["load_order"])
        sentences.append(f"Tables were loaded one after another: {tables}.")
    return "".join(f"{sentence} " for sentence in sentences)
