"""Reads from a statement which groups of a grouped subquery its condition can keep.

If a subquery's groups are joined by their key (`t.customer = c.id`), and the other side of this
equality is compared with a value (`c.id = 7`), the statement uses one group only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.plans.pruning import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot import exp
    from sqlglot.expressions import Expr

# A list of more values wants many groups.
VALUES_MAX = 20


@dataclass(frozen=True)
class WantedGroup:
    """A subquery of whose groups a statement uses those with certain keys.

    Attributes:
        alias: Name by which the statement refers to the subquery, in lower case.
        name: Name of the common table expression or view; the alias of other subqueries.
        column: Its column that is compared, in lower case.
        compared: Column of another table that it is compared with; None for a value.
        table: Table whose rows it groups; None for a view, whose text is not in the statement.
        key: Column of the table; None for a view.
    """

    alias: str
    name: str
    column: str
    compared: str | None
    table: str | None
    key: str | None


def wanted_groups(text: str | None, grammar: str | None) -> list[WantedGroup]:
    """Return the grouped subqueries and views of which a statement uses few groups by its text.

    Args:
        text: The statement.
        grammar: SQL dialect of the statement, by its name in sqlglot.
    """
    from sqlglot import exp

    trees = parsed(text or "", grammar) or []
    return [
        wanted
        for tree in trees
        for select in tree.find_all(exp.Select)
        for wanted in _wanted_of(select, _named_queries(tree))
    ]


def fixed_columns(select: exp.Select) -> set[str]:
    """Return the columns that a query compares with a value, as `table.column` in lower case."""
    return _equalities(select)[1]


def _named_queries(tree: Expr) -> dict[str, exp.Select]:
    """Return the common table expressions of a statement by name."""
    from sqlglot import exp

    return {
        query.alias.lower(): query.this
        for query in tree.find_all(exp.CTE)
        if isinstance(query.this, exp.Select)
    }


def _wanted_of(select: exp.Select, named: dict[str, exp.Select]) -> Iterator[WantedGroup]:
    from sqlglot import exp

    sources = [
        source.this
        for source in select.find_all(exp.From, exp.Join)
        if source.parent_select is select
    ]
    equal, fixed = _equalities(select)
    for source in sources:
        alias = source.alias_or_name.lower()
        name = source.name.lower() or alias
        for column, compared in _compared(alias, equal, fixed):
            grouped = _grouped_select(source, named)
            if grouped is None:
                if _is_plain_name(source, named):
                    yield WantedGroup(alias, name, column, compared, None, None)
                continue
            key = _key(grouped, column)
            if key is not None:
                yield WantedGroup(alias, name, column, compared, *key)


def _is_plain_name(source: Expr, named: dict[str, exp.Select]) -> bool:
    from sqlglot import exp

    return isinstance(source, exp.Table) and source.name.lower() not in named


def _grouped_select(source: Expr, named: dict[str, exp.Select]) -> exp.Select | None:
    """Return the query of a derived table or a common table expression; None for others."""
    from sqlglot import exp

    query = source.this if isinstance(source, exp.Subquery) else named.get(source.name.lower())
    return query if isinstance(query, exp.Select) else None


def _key(query: exp.Select, column: str) -> tuple[str, str] | None:
    """Return the table and the column that a query groups its rows by, under a name.

    None if it does not group the rows of a single table by this column, or limits them.
    """
    from sqlglot import exp

    group, source = query.args.get("group"), query.args.get("from_") or query.args.get("from")
    is_cut = any(query.args.get(name) for name in ("joins", "limit", "windows", "qualify"))
    if group is None or source is None or is_cut or not isinstance(source.this, exp.Table):
        return None
    keys = {key.name.lower() for key in group.expressions if isinstance(key, exp.Column)}
    for selected in query.expressions:
        own = selected.unalias()
        is_named = selected.alias_or_name.lower() == column
        if is_named and isinstance(own, exp.Column) and own.name.lower() in keys:
            return source.this.name.lower(), own.name.lower()
    return None


def _equalities(select: exp.Select) -> tuple[list[set[str]], set[str]]:
    """Return the pairs of columns that a query compares for equality, and columns with a value.

    A value in the condition of an outer join does not select rows of the outer side, so it counts
    for the joined table only. Names are `table.column`, in lower case.
    """
    from sqlglot import exp

    equal: list[set[str]] = []
    fixed: set[str] = set()
    where = select.args.get("where")
    for part in [] if where is None else _conjuncts(where.this):
        _note(part, equal, fixed)
    for join in select.args.get("joins") or []:
        own = join.this.alias_or_name.lower()
        ours: set[str] = set()
        for part in [] if join.args.get("on") is None else _conjuncts(join.args["on"]):
            _note(part, equal, ours)
        is_outer = bool(join.side)
        fixed |= {name for name in ours if not is_outer or name.startswith(f"{own}.")}
        for name in join.args.get("using") or []:
            first = select.find(exp.From)
            if first is not None and len(select.args["joins"]) == 1:
                other = first.this.alias_or_name.lower()
                equal.append({f"{own}.{name.name.lower()}", f"{other}.{name.name.lower()}"})
    return equal, fixed


def _conjuncts(tree: Expr) -> list[Expr]:
    from sqlglot import exp

    tree = tree.unnest()
    return [part.unnest() for part in (tree.flatten() if isinstance(tree, exp.And) else [tree])]


def _note(part: Expr, equal: list[set[str]], fixed: set[str]) -> None:
    from sqlglot import exp

    if isinstance(part, exp.In) and isinstance(part.this, exp.Column):
        values = part.args.get("expressions") or []
        if 0 < len(values) <= VALUES_MAX and all(map(_is_value, values)):
            fixed.add(_name(part.this))
    if not isinstance(part, exp.EQ):
        return
    sides = (part.this.unnest(), part.expression.unnest())
    columns = [side for side in sides if isinstance(side, exp.Column)]
    if len(columns) == 2:  # noqa: PLR2004 - both sides
        equal.append({_name(column) for column in columns})
    elif len(columns) == 1 and any(map(_is_value, sides)):
        fixed.add(_name(columns[0]))


def _is_value(tree: Expr) -> bool:
    from sqlglot import exp

    return isinstance(tree, exp.Literal | exp.Placeholder | exp.Parameter | exp.Neg)


def _name(column: exp.Column) -> str:
    return f"{column.table.lower()}.{column.name.lower()}"


def _compared(
    alias: str, equal: list[set[str]], fixed: set[str]
) -> Iterator[tuple[str, str | None]]:
    """Yield the columns of a source that have a value, with the column that they equal."""
    begin = f"{alias}."
    for pair in equal:
        own = [name for name in pair if name.startswith(begin)]
        others = [name for name in pair if not name.startswith(begin)]
        if len(own) == len(others) == 1 and others[0] in fixed:
            yield own[0].removeprefix(begin), others[0]
    for name in sorted(fixed):
        if name.startswith(begin):
            yield name.removeprefix(begin), None
