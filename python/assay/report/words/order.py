"""In which order rows and tables were loaded, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.report.documents.conditions import ConditionsSection

# Of a longer order of tables a title names the first and the last: these are what it was asked for.
TABLES_NAMED = 3


def order_words(conditions: ConditionsSection, *, brief: bool = False) -> list[str]:
    """Parts of a title or a sentence; empty where the run asked for no order.

    Args:
        conditions: Of the document.
        brief: Whether a long order of tables is told by its ends.
    """
    told = [
        f"{table} sorted by {', '.join(columns)}"
        for table, columns in conditions["sorted_by"].items()
    ]
    tables = conditions["load_order"]
    if brief and len(tables) > TABLES_NAMED:
        told.append(f"loaded from {tables[0]} to {tables[-1]}")
    elif tables:
        told.append(f"loaded in the order {', '.join(tables)}")
    return told


def order_sentences(conditions: ConditionsSection) -> str:
    """What was asked of the order, and what the engine makes of it; ends in a space or is empty."""
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
