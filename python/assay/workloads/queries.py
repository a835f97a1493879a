"""What a text of SQL reads, and whether it changes anything: by its grammar, without an engine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reads:
    """What a text does to tables.

    Attributes:
        tables: Names, in small letters, of all that stands where a table can stand.
        changes: Whether it is, or may be, more than a query.
    """

    tables: frozenset[str]
    changes: bool


def reads(text: str, dialect: str | None = None) -> Reads | None:
    """What a text reads; None if its grammar is not known.

    Args:
        text: One statement or several.
        dialect: As sqlglot names it; None: what all dialects share.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        trees = [tree for tree in sqlglot.parse(text, read=dialect) if tree is not None]
    except SqlglotError:
        return None
    changing = (exp.DML, exp.DDL, exp.Command, exp.Drop, exp.Alter, exp.Into, exp.Lock)
    queries = all(isinstance(tree, exp.Query | exp.Values) for tree in trees)
    inside = any(
        isinstance(node, changing) and not isinstance(node, exp.Query)
        for tree in trees
        for node in tree.walk()
    )
    tables = {table.name.lower() for tree in trees for table in tree.find_all(exp.Table)}
    return Reads(frozenset(tables), changes=not queries or inside)
