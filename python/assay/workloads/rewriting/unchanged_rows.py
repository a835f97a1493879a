"""Finds rows that a statement writes with the values they have, and rewrites it to leave them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.errors import SqlglotError

from assay.model.errors import UsageError
from assay.model.sql import parsed_script
from assay.workloads.rewriting.grammar import grammar_of, sql_of
from assay.workloads.scripts import parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EXCLUDED = "excluded"
# Expressions whose value differs in each execution.
_VOLATILE = (exp.Rand, exp.Uuid)
_VOLATILE_NAMES = {"nextval", "gen_random_uuid", "randomblob"}
# The time of the write. A row whose other values stay is not written only to note the time.
_TIMES = (exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentTime, exp.CurrentDatetime)
_TIME_NAMES = {"now", "transaction_timestamp", "statement_timestamp", "clock_timestamp"}
# Places of values, and the numbers that stand for them while the text is parsed.
_PLACE, _STANDING = re.compile(r"\$(\d+)\b"), re.compile(r"\b93(\d{7})\b")


@dataclass(frozen=True)
class UnchangedCount:
    """A query that counts the rows that a statement would write, and those that would change.

    Attributes:
        text: Query for both numbers, with places `$1`, `$2` and so on.
        values: Positions of these values among those of the statement, from 0.
    """

    text: str
    values: tuple[int, ...]


def unchanged_count(text: str, dialects: Sequence[str]) -> UnchangedCount | None:
    """Return a query that counts the rows that a statement writes and those that it changes.

    None if the statement is no update of one table, or if its new values always differ: those
    computed from the old value, drawn at random, or read in an order. Columns that store the
    time of the write do not count.

    Args:
        text: One statement, whose values have places as `$1`.
        dialects: Dialects of the engine in order of preference.
    """
    tree = _parsed(_PLACE.sub(lambda place: f"93{int(place[1]):07}", text), dialects)
    write = None if tree is None else _write_of(tree)
    if write is None:
        return None
    query = sql_of(_count(write), dialects)
    places = sorted({int(number) for number in _STANDING.findall(query)})
    numbers = {place: number for number, place in enumerate(places, start=1)}
    query = _STANDING.sub(lambda standing: f"${numbers[int(standing[1])]}", query)
    return UnchangedCount(query, tuple(place - 1 for place in places))


def changed_rows_only(text: str, dialects: Sequence[str]) -> str:
    """Return statements whose updates leave the rows that have the new values already.

    Raises:
        UsageError: If no statement updates a table in this way.
    """
    rewritten, at, is_changed = "", 0, False
    try:
        script_parts = parts(text, dialects)
    except ValueError as error:
        raise UsageError(str(error)) from error
    for part in script_parts:
        begin = part.tokens[0].start
        tree = _parsed(text[begin : part.end], dialects)
        write = None if tree is None else _write_of(tree)
        if tree is None or write is None:
            continue
        write.restrict()
        rewritten += text[at:begin] + sql_of(tree, dialects, pretty=True)
        at, is_changed = part.end, True
    if not is_changed:
        raise UsageError("no statement of it updates a table with values that could be the same")
    return rewritten + text[at:]


@dataclass(frozen=True)
class _Write:
    """An update, or an insert that updates rows with the same key.

    Attributes:
        target: The table, with its alias.
        place: Syntax tree that takes the condition on old and new values.
        pairs: Old and new value of each column, without times of the write.
        rows: The inserted rows as a query, with the names of their columns; None for an update.
        keys: Columns that identify a row of an insert.
    """

    target: exp.Table
    place: exp.Expr
    pairs: tuple[tuple[exp.Expr, exp.Expr], ...]
    rows: tuple[exp.Expr, tuple[str, ...]] | None = None
    keys: tuple[str, ...] = ()

    def difference(self) -> exp.Expr:
        """Return the condition that a column has another value than the statement writes."""
        different = [
            exp.NullSafeNEQ(this=old.copy(), expression=new.copy()) for old, new in self.pairs
        ]
        return exp.or_(*different)

    def restrict(self) -> None:
        """Add the condition to the statement."""
        own = self.place.args.get("where")
        both = self.difference() if own is None else exp.and_(own.this, self.difference())
        self.place.set("where", exp.Where(this=both))


def _parsed(text: str, dialects: Sequence[str]) -> exp.Expr | None:
    try:
        trees = [tree for tree in parsed_script(text, grammar_of(dialects)) if tree is not None]
    except SqlglotError:
        return None
    return trees[0] if len(trees) == 1 else None


def _write_of(tree: exp.Expr) -> _Write | None:
    if isinstance(tree, exp.Update):
        return _update(tree)
    if isinstance(tree, exp.Insert):
        return _upsert(tree)
    return None


def _update(tree: exp.Update) -> _Write | None:
    target = tree.this
    if not isinstance(target, exp.Table) or target.args.get("joins") or tree.args.get("with_"):
        return None
    if tree.args.get("order") or tree.args.get("limit"):
        return None
    pairs = _pairs(tree.expressions, target.alias_or_name)
    return None if pairs is None else _Write(target, tree, pairs)


def _upsert(tree: exp.Insert) -> _Write | None:
    schema, conflict, source = tree.this, tree.args.get("conflict"), tree.expression
    if not isinstance(schema, exp.Schema) or not isinstance(schema.this, exp.Table):
        return None
    if not isinstance(conflict, exp.OnConflict) or conflict.args.get("duplicate"):
        return None
    keys = [key.find(exp.Column) for key in conflict.args.get("conflict_keys") or ()]
    if not keys or not isinstance(source, exp.Query | exp.Values) or tree.args.get("with_"):
        return None
    target = schema.this
    pairs = _pairs(conflict.expressions, target.alias_or_name)
    columns = tuple(column.name for column in schema.expressions)
    inserted = _inserted(source, columns)
    names = tuple(key.name if key is not None else "" for key in keys)
    if pairs is None or not set(names) <= set(columns):
        return None
    # A column that gets the time of the write, through the row to insert.
    timed = {name for name, value in inserted.items() if _is_time(value)}
    if any(_is_volatile(value) for value in inserted.values()):
        return None
    pairs = tuple(pair for pair in pairs if not _reads_excluded(pair[1], timed))
    return _Write(target, conflict, pairs, (source, columns), names) if pairs else None


def _inserted(source: exp.Expr, columns: Sequence[str]) -> dict[str, exp.Expr]:
    """Return the expressions of the inserted columns, of the first row for `values`."""
    if isinstance(source, exp.Values):
        first = source.expressions[0] if source.expressions else None
        values = list(first.expressions) if isinstance(first, exp.Tuple) else []
    else:
        values = list(source.selects) if isinstance(source, exp.Select) else []
    return dict(zip(columns, values, strict=False))


def _reads_excluded(value: exp.Expr, names: set[str]) -> bool:
    return any(
        column.table.lower() == EXCLUDED and column.name in names
        for column in value.find_all(exp.Column)
    )


def _pairs(
    assignments: Sequence[exp.Expr], table: str
) -> tuple[tuple[exp.Expr, exp.Expr], ...] | None:
    """Return old and new values; None if one always differs, or if there is none to compare."""
    pairs = list(_compared(assignments, table))
    known = [pair for pair in pairs if pair is not None]
    return tuple(known) if known and len(known) == len(pairs) else None


def _compared(
    assignments: Sequence[exp.Expr], table: str
) -> Iterator[tuple[exp.Expr, exp.Expr] | None]:
    for assignment in assignments:
        old, new = assignment.args.get("this"), assignment.args.get("expression")
        if not isinstance(assignment, exp.EQ) or not isinstance(old, exp.Column) or new is None:
            yield None
        elif _is_time(new):
            continue
        elif _is_volatile(new) or new.find(exp.Query) or _reads(new, old, table):
            yield None
        else:
            yield exp.column(old.name, table=table, quoted=old.this.quoted), new


def _is_time(value: exp.Expr) -> bool:
    return any(
        isinstance(node, _TIMES) or (isinstance(node, exp.Anonymous | exp.Func) and _is_now(node))
        for node in value.walk()
    )


def _is_now(function: exp.Expr) -> bool:
    if function.name.lower() in _TIME_NAMES:
        return True
    # SQLite's functions of dates and times, of which the argument says that it is now.
    return any(
        isinstance(literal, exp.Literal) and literal.name.lower() == "now"
        for literal in function.find_all(exp.Literal)
    )


def _is_volatile(value: exp.Expr) -> bool:
    return any(
        isinstance(node, _VOLATILE)
        or (isinstance(node, exp.Anonymous) and node.name.lower() in _VOLATILE_NAMES)
        for node in value.walk()
    )


def _reads(new: exp.Expr, old: exp.Column, table: str) -> bool:
    """Return True if a new value is computed from the old one of the same column."""
    if isinstance(new, exp.Column | exp.Coalesce):
        return False
    return any(
        column.name.lower() == old.name.lower() and column.table.lower() in ("", table.lower())
        for column in new.find_all(exp.Column)
    )


def _count(write: _Write) -> exp.Select:
    """Return the query that counts the rows that a statement writes and changes."""
    changed = exp.Count(this=exp.case().when(write.difference(), exp.Literal.number(1)))
    counts = exp.select(exp.Count(this=exp.Star()), changed)
    own = write.place.args.get("where")
    if write.rows is None:
        counts = counts.from_(write.target.copy())
        tables = write.place.args.get("from_")
        if tables is not None:
            counts = counts.join(tables.this.copy(), join_type="cross")
    else:
        source, columns = write.rows
        counts = counts.from_(EXCLUDED).join(
            write.target.copy(),
            on=exp.and_(
                *(
                    exp.EQ(
                        this=exp.column(key, table=write.target.alias_or_name),
                        expression=exp.column(key, table=EXCLUDED),
                    )
                    for key in write.keys
                )
            ),
        )
        names = exp.TableAlias(
            this=exp.to_identifier(EXCLUDED),
            columns=[exp.to_identifier(column) for column in columns],
        )
        rows = _typed(write.target, columns, source)
        counts.set("with_", exp.With(expressions=[exp.CTE(this=rows, alias=names)]))
    return counts if own is None else counts.where(own.this.copy())


def _typed(target: exp.Table, columns: Sequence[str], source: exp.Expr) -> exp.Expr:
    """Return the inserted rows as a query; values have the types of the table's columns."""
    if not isinstance(source, exp.Values):
        return source.copy()
    rows: exp.Query = exp.select(*map(exp.column, columns)).from_(target.copy()).where("1 = 0")
    for row in source.expressions:
        rows = rows.union(exp.select(*row.copy().expressions), distinct=False)
    return rows
