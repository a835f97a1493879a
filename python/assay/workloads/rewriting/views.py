"""Reads the queries of views, and writes them in the place of the views' names in a query."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.errors import SqlglotError

from assay.model.errors import UsageError
from assay.model.sql import parsed_script
from assay.workloads.rewriting.grammar import grammar_of, sql_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Maximum number of views within views, and of characters of the resulting text.
DEPTH_MAX, LENGTH_MAX = 8, 100_000
_NAME = re.compile(r"\w+")
# Places of values, and the numbers that stand for them while the text is parsed: some grammars take
# `$1` for the beginning of a quoted text.
_PLACE, _STANDING = re.compile(r"\$(\d+)\b"), re.compile(r"\b92(\d{7})\b")


@cache
def declared_views(scripts: tuple[str, ...], dialects: tuple[str, ...]) -> Mapping[str, str]:
    """Return the queries of the views that scripts create, by name in lower case.

    Recursive and materialised views, views with a list of columns for `*`, and scripts that cannot
    be parsed are left out.
    """
    views: dict[str, str] = {}
    for script in scripts:
        try:
            trees = parsed_script(script, grammar_of(dialects))
        except SqlglotError:
            continue
        for tree in trees:
            if isinstance(tree, exp.Create) and isinstance(tree.this, exp.Table | exp.Schema):
                query = _view_query(tree)
                if query is not None:
                    views[_created(tree).name.lower()] = sql_of(query, dialects)
                else:
                    views.pop(_created(tree).name.lower(), None)
            elif isinstance(tree, (exp.Drop, exp.Alter)):
                for table in tree.find_all(exp.Table):
                    views.pop(table.name.lower(), None)
    return views


def _created(create: exp.Create) -> exp.Expr:
    """Return the name of a created table or view, without its list of columns."""
    named: exp.Expr = create.this
    return named.this if isinstance(named, exp.Schema) else named


def _view_query(create: exp.Create) -> exp.Query | None:
    """Return the query of a plain view, with its list of columns as names; None for others."""
    properties = create.args.get("properties")
    is_stored = properties is not None and properties.find(exp.MaterializedProperty) is not None
    is_view = str(create.args.get("kind")).upper() == "VIEW"
    query = create.expression
    if not is_view or is_stored or not isinstance(query, exp.Query):
        return None
    return _named(query, create.this.expressions) if isinstance(create.this, exp.Schema) else query


def _named(query: exp.Query, columns: Sequence[exp.Expr]) -> exp.Query | None:
    """Return a query whose columns have these names; None if it reads all columns by `*`."""
    first: exp.Expr = query
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.this
    if not isinstance(first, exp.Select) or first.is_star or len(first.expressions) != len(columns):
        return None
    shown = [
        exp.alias_(each.unalias(), column.name)
        for each, column in zip(first.expressions, columns, strict=True)
    ]
    first.set("expressions", shown)
    return query


def with_views(text: str, views: Mapping[str, str], dialects: Sequence[str]) -> str | None:
    """Return a query with the queries of views in the place of their names.

    None if it uses no view, or if it is not one query that can be parsed.

    Args:
        text: One query.
        views: Queries of views by name in lower case, or the statements that create them.
        dialects: Dialects of the engine in order of preference.
    """
    if not views or views.keys().isdisjoint(_NAME.findall(text.lower())):
        return None
    grammar = grammar_of(dialects)
    plain = _PLACE.sub(lambda place: f"92{int(place[1]):07}", text)
    try:
        trees = [tree for tree in parsed_script(plain, grammar) if tree is not None]
        if len(trees) != 1 or not isinstance(trees[0], exp.Query):
            return None
        is_expanded = _expand(trees[0], views, grammar, DEPTH_MAX)
    except SqlglotError:
        return None
    expanded = sql_of(trees[0], dialects, pretty=True) if is_expanded else ""
    expanded = _STANDING.sub(lambda number: f"${int(number[1])}", expanded)
    return expanded if 0 < len(expanded) <= LENGTH_MAX else None


def ranking_views(text: str, views: Mapping[str, str], dialects: Sequence[str]) -> list[str]:
    """Return the views that a query names and that use window functions, also in other views."""
    grammar = grammar_of(dialects)
    trees = _queries(text, grammar)
    names = [table.name for table in _named_views(trees[0], views)] if trees else []
    return [name for name in dict.fromkeys(names) if _uses_window(name, views, dialects)]


def with_stored_views(text: str, views: Mapping[str, str], dialects: Sequence[str]) -> str:
    """Return a query that reads a table, named by `stored_name`, in the place of ranking views.

    Raises:
        UsageError: If the query names no such view, or cannot be parsed.
    """
    stored = {name.lower() for name in ranking_views(text, views, dialects)}
    if not stored:
        raise UsageError("it names no view with a window function, whose rows a table could have")
    (tree,) = _queries(text, grammar_of(dialects))
    for table in _named_views(tree, views):
        if table.name.lower() in stored:
            alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(table.name))
            table.set("alias", alias)
            table.set("this", exp.to_identifier(stored_name(table.name)))
    return sql_of(tree, dialects, pretty=True)


def storing_statement(view: str, dialects: Sequence[str]) -> str:
    """Return the statement that stores the rows of a view in the table `stored_name`."""
    rows = exp.select("*").from_(exp.Table(this=exp.to_identifier(view)))
    table = exp.Table(this=exp.to_identifier(stored_name(view)))
    return sql_of(exp.Create(this=table, kind="TABLE", expression=rows), dialects)


def stored_name(view: str) -> str:
    """Return the name of the table that has the rows of a view."""
    return f"assay_stored_{view.lower()}"


def _queries(text: str, grammar: str | None) -> list[exp.Query]:
    """Return the only query of a text; empty if it is something else."""
    try:
        trees = [tree for tree in parsed_script(text, grammar) if tree is not None]
    except SqlglotError:
        return []
    return [tree for tree in trees if isinstance(tree, exp.Query)] if len(trees) == 1 else []


def _uses_window(view: str, views: Mapping[str, str], dialects: Sequence[str]) -> bool:
    query = _query(views[view.lower()], grammar_of(dialects))
    if query is None:
        return False
    _expand(query, views, grammar_of(dialects), DEPTH_MAX)
    return query.find(exp.Window) is not None


def _named_views(tree: exp.Expr, views: Mapping[str, str]) -> list[exp.Table]:
    """Return the names of views below a tree that stand for rows."""
    common = {each.alias.lower() for each in tree.find_all(exp.CTE)}
    return [
        table
        for table in tree.find_all(exp.Table)
        if table.name.lower() in views and not table.args.get("db")
        if table.name.lower() not in common and isinstance(table.parent, (exp.From, exp.Join))
    ]


def _expand(tree: exp.Expr, views: Mapping[str, str], grammar: str | None, depth: int) -> bool:
    """Replace the names of views below a tree; return whether there was one."""
    used = _named_views(tree, views)
    for table in used:
        query = _query(views[table.name.lower()], grammar)
        if query is None:
            return False
        if depth > 1:
            _expand(query, views, grammar, depth - 1)
        alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(table.name))
        derived = exp.Subquery(this=query, alias=alias)
        for join in table.args.get("joins") or []:
            derived.append("joins", join)
        table.replace(derived)
    return bool(used)


def _query(text: str, grammar: str | None) -> exp.Query | None:
    """Return the query of a view, from itself or from the statement that creates the view."""
    trees = [tree for tree in parsed_script(text, grammar) if tree is not None]
    if len(trees) != 1:
        return None
    (tree,) = trees
    if isinstance(tree, exp.Create):
        return _view_query(tree)
    return tree if isinstance(tree, exp.Query) else None
