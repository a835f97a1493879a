"""Reads from `create table` scripts which columns are never null, and which are unique."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.errors import SqlglotError

from assay.model.declared import DeclaredColumns
from assay.model.sql import parsed_script
from assay.workloads.rewriting.grammar import grammar_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Grammars whose engines check keys when rows are written.
ENFORCED = {"postgres", "mysql", "duckdb", "sqlite"}
KEYS = (exp.PrimaryKey, exp.UniqueColumnConstraint)
# Actions of `alter table` after which all earlier declarations still hold.
ADDITIONS = (exp.AddConstraint, exp.ColumnDef, *KEYS)

# Commands that change no table.
HARMLESS = {"ANALYZE", "VACUUM", "SET", "PRAGMA"}


@dataclass
class _Tables:
    """The tables that scripts have declared so far, by name."""

    grammar: str | None
    tables: dict[str, DeclaredColumns] = field(default_factory=dict)

    def add(self, tree: exp.Expr | None, script: str) -> None:
        """Add what a statement declares, or forget what it may change."""
        if isinstance(tree, exp.Create) and isinstance(tree.this, exp.Schema):
            self._create(tree.this, script)
        elif isinstance(tree, exp.Create) and isinstance(tree.this, exp.Index):
            self._index(tree)
        elif isinstance(tree, exp.Alter):
            self._alter(tree)
        elif _may_change(tree):
            self.tables = {name: _plain(columns) for name, columns in self.tables.items()}

    def _create(self, schema: exp.Schema, script: str) -> None:
        definitions = list(schema.find_all(exp.ColumnDef))
        types = {
            definition.name.lower(): definition.kind.sql(self.grammar) if definition.kind else ""
            for definition in definitions
        }
        declared = DeclaredColumns(types)
        is_other = schema.this.args.get("db")
        if self.grammar in ENFORCED and len(types) == len(definitions) and not is_other:
            trees = [tree for tree in schema.find_all(*KEYS) if tree.find(exp.Identifier)]
            declared = _with_keys(declared, trees)
            for definition in definitions:
                declared = self._with_column(declared, definition, script)
            if self.grammar == "sqlite":
                # A primary key of SQLite may be null, unless it is the integer of each row.
                required = [one.name.lower() for one in definitions if _is_required(one, script)]
                declared = replace(declared, required=frozenset(required))
        self.tables[schema.this.name.lower()] = declared

    def _with_column(
        self, declared: DeclaredColumns, definition: exp.ColumnDef, script: str
    ) -> DeclaredColumns:
        name = definition.name.lower()
        kinds = [constraint.kind for constraint in definition.constraints]
        if any(isinstance(kind, exp.PrimaryKeyColumnConstraint) for kind in kinds):
            declared = replace(
                declared, keys=(*declared.keys, (name,)), required=declared.required | {name}
            )
        elif any(isinstance(kind, exp.UniqueColumnConstraint) for kind in kinds):
            declared = replace(declared, keys=(*declared.keys, (name,)))
        if _is_required(definition, script):
            declared = replace(declared, required=declared.required | {name})
        return declared

    def _index(self, create: exp.Create) -> None:
        index = create.this
        table, parameters = index.args.get("table"), index.args.get("params")
        name = "" if table is None else table.name.lower()
        if not create.args.get("unique") or name not in self.tables or parameters is None:
            return
        names = _names(exp.Tuple(expressions=parameters.args.get("columns") or []))
        declared = self.tables[name]
        if names and not parameters.args.get("where") and self.grammar in ENFORCED:
            self.tables[name] = replace(declared, keys=(*declared.keys, names))

    def _alter(self, alter: exp.Alter) -> None:
        name = alter.this.name.lower()
        if name not in self.tables:
            return
        actions = alter.args.get("actions") or []
        if not actions or not all(isinstance(action, ADDITIONS) for action in actions):
            self.tables[name] = _plain(self.tables[name])
        elif self.grammar in ENFORCED:
            trees = [tree for action in actions for tree in action.find_all(*KEYS)]
            self.tables[name] = _with_keys(self.tables[name], trees)


@cache
def declared_tables(
    scripts: tuple[str, ...], dialects: tuple[str, ...]
) -> Mapping[str, DeclaredColumns]:
    """Return the tables that scripts declare, without scripts that cannot be parsed."""
    grammar = grammar_of(dialects)
    tables = _Tables(grammar)
    for script in scripts:
        try:
            trees = parsed_script(script, grammar)
        except SqlglotError:
            continue
        for tree in trees:
            tables.add(tree, script)
    return tables.tables


def _may_change(tree: exp.Expr | None) -> bool:
    """Return True for a statement that may change a table in a way that is not known."""
    if isinstance(tree, exp.Command):
        return str(tree.this).upper() not in HARMLESS
    return isinstance(tree, exp.Drop) and tree.args.get("kind") != "TABLE"


def _with_keys(declared: DeclaredColumns, trees: Iterable[exp.Expr]) -> DeclaredColumns:
    """Return the columns with further constraints, such as `primary key (id)`."""
    keys, required = [*declared.keys], declared.required
    for tree in trees:
        names = _names(tree.this if isinstance(tree.this, exp.Schema) else tree)
        if names is not None and set(names) <= set(declared.types):
            keys.append(names)
            required |= set(names) if isinstance(tree, exp.PrimaryKey) else set()
    return replace(declared, keys=tuple(keys), required=required)


def _plain(columns: DeclaredColumns) -> DeclaredColumns:
    """Return a table's columns without what a statement may have changed."""
    return DeclaredColumns(columns.types)


def _is_required(definition: exp.ColumnDef, script: str) -> bool:
    """Return True if a column is declared as never null, or is SQLite's number of each row."""
    for constraint in definition.constraints:
        kind = constraint.kind
        if isinstance(kind, exp.NotNullColumnConstraint):
            return not kind.args.get("allow_null")
    number = rf"\b{re.escape(definition.name)}[\"`\]]?\s+integer\s+primary\s+key(?!\s+desc)\b"
    return re.search(number, script, re.IGNORECASE) is not None


def _names(tree: exp.Expr) -> tuple[str, ...] | None:
    """Return the columns of a key in lower case; None if one is a computation or a prefix."""
    names: list[str] = []
    for part in tree.expressions:
        column = part.this if isinstance(part, exp.Ordered) else part
        if not isinstance(column, (exp.Column, exp.Identifier)):
            return None
        names.append(column.name.lower())
    return tuple(names) or None
