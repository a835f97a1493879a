"""Rewrites a comparison with the elements of an array column as one that an index can serve.

`value = any (column)` is true for the same rows as `column @> array[value]`, which PostgreSQL's GIN
indexes serve. Both drop a row whose array is null, and a value that is null matches no row.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.model.errors import UsageError
from assay.record.layout import ARRAY_ELEMENT
from assay.workloads.rewriting.blocks import conditions_of
from assay.workloads.rewriting.grammar import grammar_of, text_of
from assay.workloads.rewriting.parameters import FIRST
from assay.workloads.rewriting.pieces import Piece

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.workloads.rewriting.blocks import Block, Query

GRAMMAR = "postgres"
# Types whose values are compared as they are: fixed-length texts are not.
FIXED = (exp.DataType.Type.CHAR, exp.DataType.Type.NCHAR)


def array_element(query: Query, dialects: Sequence[str]) -> Piece:
    """Return the comparisons with elements of arrays as a part that `@>` can replace.

    Raises:
        UsageError: If the query has no such comparison, or if the type of the array is not known.
    """
    if grammar_of(dialects) != GRAMMAR:
        raise UsageError("this grammar has no `@>`, which indexes of array elements serve")
    found = {
        condition: kind
        for block in query.blocks
        for condition in conditions_of(block)
        if (kind := _array_type(query, block, condition)) is not None
    }
    if not found:
        raise UsageError("the query compares no value with the elements of an array column")
    phrase = f"`= any` in {text_of(next(iter(found)), dialects)}, now `@>`"
    return Piece(ARRAY_ELEMENT, phrase, partial(_contain, found))


def _array_type(query: Query, block: Block, condition: exp.Expr) -> exp.DataType | None:
    """Return the type of the array column whose elements a value is compared with; else None."""
    if not isinstance(condition, exp.EQ) or not isinstance(condition.expression, exp.Any):
        return None
    column, value = condition.expression.this.unnest(), condition.this.unnest()
    if not isinstance(column, exp.Column) or not isinstance(value, (exp.Literal, exp.Parameter)):
        return None
    owner = query.owner(column)
    source = None if owner is None or owner[0] is not block else block.sources[owner[1]]
    if not isinstance(source, exp.Table):
        return None
    declared = query.declared(source).types.get(column.name.lower())
    kind = exp.DataType.build(declared, dialect=GRAMMAR) if declared else None
    if kind is None or not kind.is_type(exp.DataType.Type.ARRAY):
        return None
    return _without_length(kind, value)


def _without_length(kind: exp.DataType, value: exp.Expr) -> exp.DataType | None:
    """Return an array type without the length of its elements, which a cast would enforce.

    None if a cast of the value to the type of the elements could change the value.
    """
    (element,) = kind.expressions
    if not isinstance(element, exp.DataType) or element.is_type(*FIXED):
        return None
    is_number = isinstance(value, exp.Literal) and not value.is_string and not _is_masked(value)
    if is_number and (
        not value.name.isdecimal() or not element.is_type(*exp.DataType.NUMERIC_TYPES)
    ):
        return None
    plain = exp.DataType(this=element.this)
    return exp.DataType(this=kind.this, expressions=[plain], nested=True)


def _is_masked(value: exp.Literal) -> bool:
    """Return True for a number that stands for a parameter, which has the type of the elements."""
    return value.name.isdecimal() and int(value.name) >= FIRST


def _contain(found: dict[exp.Expr, exp.DataType]) -> None:
    for condition, kind in found.items():
        value, column = condition.this.unnest(), condition.expression.this.unnest()
        array = exp.cast(exp.Array(expressions=[value.copy()]), kind.copy(), dialect=GRAMMAR)
        condition.replace(exp.ArrayContainsAll(this=column.copy(), expression=array))
