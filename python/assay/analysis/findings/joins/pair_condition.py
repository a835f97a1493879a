"""Reads whether a join's condition can only be decided for each pair of rows.

A hash table finds rows by an equality of an expression of one side with an expression of the other
side, and a sorted input by an inequality of such expressions. A function, a pattern or an
arithmetic of columns of both sides has to be computed for each pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.findings.indexes.conditions import conjuncts, whole_part
from assay.analysis.plans.pruning import parsed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlglot.expressions import Expr

BEGINNING, DISTANCE, OTHER = "beginning", "distance", "other"
# Functions of spatial types, whose pairs an index of another kind finds.
SPATIAL = "st_"
_SEPARABLE, _COMPUTED, _ONE_SIDED, _UNKNOWN = "separable", "computed", "one-sided", "unknown"


@dataclass(frozen=True)
class PairCondition:
    """A comparison that is computed for each pair of rows.

    Attributes:
        text: The comparison, as the plan or the statement has it.
        kind: `beginning` if a text begins with another text, `distance` if the difference of two
            values is compared, and `other`.
    """

    text: str
    kind: str


def pair_condition(condition: str | None, grammar: str | None) -> PairCondition | None:
    """Return the comparison of a join's condition that is computed for each pair of rows.

    None if an equality of the condition finds the rows, or if the condition cannot be read.

    Args:
        condition: The condition in the words of the plan.
        grammar: SQL dialect of the statements, by its name in sqlglot.
    """
    parts = [whole_part(part) for part in conjuncts(condition)]
    trees = [_tree(part, grammar) for part in parts]
    if None in trees:
        return None
    return _first_computed([(part, tree) for part, tree in zip(parts, trees, strict=True) if tree])


def join_condition(text: str | None, grammar: str | None) -> PairCondition | None:
    """Return such a comparison of a statement that joins two tables, without a plan's condition.

    None unless the statement is a single select from two tables.
    """
    from sqlglot import exp

    trees = parsed(text or "", grammar) or []
    selects = [select for tree in trees for select in tree.find_all(exp.Select)]
    tables = [table for tree in trees for table in tree.find_all(exp.Table)]
    if len(selects) != 1 or len(tables) != 2:  # noqa: PLR2004 - both sides of one join
        return None
    joins = selects[0].args.get("joins") or []
    if any(join.args.get("using") or join.args.get("method") == "NATURAL" for join in joins):
        return None
    where = selects[0].args.get("where")
    whole = [join.args.get("on") for join in joins] + [None if where is None else where.this]
    parts = [part for tree in whole if tree is not None for part in _conjuncts(tree)]
    return _first_computed([(part.sql(dialect=_known(grammar)), part) for part in parts])


def _known(grammar: str | None) -> str | None:
    from sqlglot.dialects.dialect import Dialects

    return grammar if grammar in {dialect.value for dialect in Dialects} else None


def _conjuncts(tree: Expr) -> list[Expr]:
    from sqlglot import exp

    tree = tree.unnest()
    return list(tree.flatten()) if isinstance(tree, exp.And) else [tree]


def _tree(part: str, grammar: str | None) -> Expr | None:
    trees = parsed(f"select {part}", grammar)
    if trees is None or len(trees) != 1 or len(trees[0].expressions) != 1:
        return None
    tree: Expr = trees[0].expressions[0].unalias().unnest()
    return tree


def _first_computed(parts: Iterable[tuple[str, Expr]]) -> PairCondition | None:
    computed = None
    for text, tree in parts:
        reading = _reading(tree.unnest())
        if reading == _UNKNOWN or (reading == _SEPARABLE and _finds_rows(tree.unnest())):
            return None
        if reading == _COMPUTED and computed is None:
            computed = PairCondition(" ".join(text.split()), _kind(tree.unnest()))
    return computed


def _finds_rows(tree: Expr) -> bool:
    """Return True for comparisons that a hash table serves, and for alternatives of such."""
    from sqlglot import exp

    return isinstance(tree, exp.EQ | exp.NullSafeEQ | exp.Or)


def _reading(tree: Expr) -> str:
    """Return whether a comparison separates both sides, or is computed of columns of both."""
    from sqlglot import exp

    if not _are_of_both_sides([tree]):
        return _ONE_SIDED
    if isinstance(tree, exp.Not | exp.Paren | exp.Escape):
        return _reading(tree.this)
    if isinstance(tree, exp.Or):
        readings = {_reading(part.unnest()) for part in tree.flatten()}
        return next((name for name in (_UNKNOWN, _COMPUTED) if name in readings), _SEPARABLE)
    if isinstance(tree, exp.Between):
        operands = [tree.this, tree.args["low"], tree.args["high"]]
    elif isinstance(tree, exp.EQ | exp.NullSafeEQ | exp.NEQ | exp.LT | exp.LTE | exp.GT | exp.GTE):
        operands = [tree.this, tree.expression]
    else:
        return _reading_of_call(tree)
    if any(_is_spatial(part) for operand in operands for part in operand.find_all(exp.Func)):
        return _UNKNOWN
    is_of_list = any(isinstance(operand, exp.Any) for operand in operands)
    is_mixed = any(_are_of_both_sides([part]) for part in operands)
    return _COMPUTED if is_mixed or is_of_list else _SEPARABLE


def _reading_of_call(tree: Expr) -> str:
    """Return the reading of a pattern, or of a function that is true or false."""
    from sqlglot import exp

    patterns = exp.Like | exp.ILike | exp.RegexpLike | exp.RegexpILike | exp.SimilarTo | exp.Glob
    if isinstance(tree, patterns | exp.ArrayContains):
        return _COMPUTED
    is_call = isinstance(tree, exp.Func) and not isinstance(tree, exp.Binary | exp.Connector)
    return _COMPUTED if is_call and not _is_spatial(tree) else _UNKNOWN


def _is_spatial(tree: Expr) -> bool:
    from sqlglot import exp

    name = tree.name if isinstance(tree, exp.Anonymous) else tree.key
    return name.lower().replace("stdistance", SPATIAL).startswith(SPATIAL)


def _are_of_both_sides(trees: Iterable[Expr]) -> bool:
    """Return True if expressions have columns of both sides of a join.

    Plans without the names of tables (DuckDB) have comparisons of one side at its scan instead.
    """
    from sqlglot import exp

    columns = [column for tree in trees for column in tree.find_all(exp.Column)]
    tables = {column.table.lower() for column in columns}
    return len(columns) > 1 if "" in tables else len(tables) > 1


def _kind(tree: Expr) -> str:
    from sqlglot import exp

    if isinstance(tree, exp.Escape):
        return _kind(tree.this)
    if isinstance(tree, exp.StartsWith):
        return BEGINNING
    if isinstance(tree, exp.Like | exp.ILike):
        leaf = next(tree.expression.find_all(exp.Column, exp.Literal, bfs=False), None)
        return BEGINNING if isinstance(leaf, exp.Column) else OTHER
    if isinstance(tree, exp.EQ):
        is_cut = any(_is_beginning(part) for part in tree.find_all(exp.Left, exp.Substring))
        return BEGINNING if is_cut else OTHER
    is_limit = isinstance(tree, exp.LT | exp.LTE | exp.GT | exp.GTE | exp.Between)
    subtracting = (exp.Sub, exp.DateDiff, exp.TimestampDiff, exp.DatetimeDiff)
    differences = [part for part in tree.find_all(*subtracting) if _are_of_both_sides([part])]
    return DISTANCE if is_limit and differences else OTHER


def _is_beginning(tree: Expr) -> bool:
    """Return True if a call returns the first characters of a text."""
    from sqlglot import exp

    if isinstance(tree, exp.Left):
        return True
    start = tree.args.get("start")
    return isinstance(start, exp.Literal) and start.name == "1"
