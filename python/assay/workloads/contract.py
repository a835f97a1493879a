"""The contract of a workload: `workload.toml` and the files beside it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from assay.model.errors import UsageError
from assay.model.language import SPARQL, language_of, suffix_of
from assay.model.script import Draw, Script, ScriptOperation, ScriptStatement
from assay.workloads import generate, known_columns, programs, rules, scripts, texts
from assay.workloads.captured import writing
from assay.workloads.texts import MANIFEST, Statement, read_bytes, read_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from assay.model.declared import DeclaredColumns
    from assay.model.language import Language
    from assay.workloads.facts import RefreshFacts, WorkloadFacts
    from assay.workloads.rewriting import QueryPart
    from assay.workloads.rewriting.stored import StoredValue

SCHEMA = "schema"
ROWS = "rows"
SETUP_DEFAULT = "schema/tables.sql"
KEYS = ("schema/keys.sql", "schema/indexes.sql")
Parameters = Literal["default", "drawn"]


def operation_of(name: str) -> str:
    """Return the operation of a text: `q09` for `q09@3`."""
    return name.partition("@")[0]


@dataclass(frozen=True)
class Workload:
    """One workload folder.

    A workload's facts are complete, including defaults of the manifest.

    Attributes:
        facts: Facts of the manifest.
        folder: Directory of the workload.
        differs_from: Workload of Assay with the same metric names but other content; None for all
            others.
        source: The workload whose data it queries; None if it has its own data, or none.
        left_out: Operations of the manifest's order that are not executed.
        removed: Parts that are removed from its queries.
        given: Texts of operations that replace those of their files.
        foreign_keys: Whether its data have foreign keys.
        server_tables: Tables that no script declares, from the catalogue of the server that has
            them; None if the catalogue was not read yet.
    """

    facts: WorkloadFacts
    folder: Path
    differs_from: str | None = None
    source: Workload | None = None
    left_out: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    foreign_keys: bool = False
    server_tables: Mapping[str, DeclaredColumns] | None = field(default_factory=dict)

    @property
    def data(self) -> Workload:
        """Return the workload whose data are loaded: this one, or the one whose data it uses."""
        return self.source or self

    @cached_property
    def content_hash(self) -> str:
        """Return the SHA-256 of everything that is measured: manifest, SQL, streams and data."""
        if self.operations_folder == self.folder:
            files = texts.operation_files(self.folder, self.facts)
            operations = sorted(path.name for path in files)
        else:
            operations = self._relative(texts.OPERATIONS)
        streams = [self.facts.streams.orders] if self.facts.streams else []
        streams += texts.recorded_files(self.facts)
        source = "" if self.source is None else self.source.content_hash
        return self._hash(operations, streams, source)

    @property
    def data_hash(self) -> str:
        """Return the SHA-256 of files that define the loaded data, without operations and order.

        A changed statement therefore requires no reload.
        """
        return self._hash([], [], "" if self.source is None else self.source.data_hash)

    def _hash(self, operations: Sequence[str], streams: Sequence[str], source: str) -> str:
        manifest = [MANIFEST] if (self.folder / MANIFEST).is_file() else []
        names = [*manifest, *self._relative(SCHEMA), *self._relative(ROWS), *operations]
        scripts = (*self._setup_names(), *texts.data_scripts(self.facts))
        names += [name for script in scripts for name in texts.versions(self.folder, script)]
        linked = self.facts.foreign_keys
        names += [*streams, *(texts.versions(self.folder, linked) if linked else [])]
        digest = hashlib.sha256()
        for name in dict.fromkeys(names):
            digest.update(name.encode() + b"\0" + read_bytes(self.folder / name) + b"\0")
        digest.update(source.encode())
        return digest.hexdigest()

    @property
    def operations_folder(self) -> Path:
        """Return the workload's subfolder `operations/`; without one, the workload's folder."""
        return texts.operations_folder(self.folder)

    @property
    def makes_data(self) -> bool:
        """Return True if data must be generated before operations can run."""
        facts = self.data.facts
        return bool(facts.tables or facts.triples or self.data._setup_names())

    def tables(self, language: Language) -> tuple[str, ...]:
        """Return the tables that the generator fills for an engine with this query language."""
        return self.facts.triples if language == SPARQL else self.facts.tables

    def language(self, spoken: Sequence[Language]) -> Language | None:
        """Return the first of the workload's languages that is among these; None without one."""
        return next((language for language in self.facts.languages if language in spoken), None)

    @property
    def weights(self) -> dict[str, int]:
        """Return the mix: each operation of the order with its weight."""
        return {name: self.facts.operations[name].weight for name in self.facts.order}

    @property
    def waits(self) -> dict[str, tuple[float, float]]:
        """Return keying time and mean think time in seconds, by operation; empty without waits."""
        wait_by_name = {name: self.facts.operations[name].wait for name in self.facts.order}
        return {name: (wait.keying_s, wait.think_s) for name, wait in wait_by_name.items() if wait}

    def terminals(self, scale: float) -> int | None:
        """Return the default number of clients in a run in which clients pause (`--think-time`)."""
        terminals = self.facts.terminals
        return None if terminals is None else rules.count_at(terminals, scale)

    @property
    def drawn_operations(self) -> tuple[str, ...]:
        """Return operations with values drawn at each execution, which have no single answer."""
        if self.facts.arrival == "power":
            return ()
        operations = self.facts.operations
        return tuple(
            name
            for name in dict.fromkeys(self.facts.order)
            if operations[name].parameters or operations[name].program or operations[name].values
        )

    @property
    def of_source(self) -> frozenset[str]:
        """Return operations without a file here that the workload with the data has."""
        if self.source is None:
            return frozenset()
        files = texts.operation_files(self.folder, self.facts)
        own = {path.name.split(".")[0] for path in files}
        return frozenset(name for name in self.facts.operations if name not in own)

    @property
    def checks(self) -> tuple[str, ...]:
        """Return the check names of operations that are executed once with fixed values."""
        asked = self.facts.checks
        return tuple(name for name in asked if operation_of(name) in self.facts.order)

    def setup(self, dialects: Sequence[str], scale: float) -> dict[str, str]:
        """Return scripts that run before the generator's rows are loaded: text by file, in order.

        Raises:
            UsageError: If a file is missing, cannot be read, or names an unknown constant.
        """
        data = self.data
        if language_of(dialects) == SPARQL:
            return {}
        return data._scripts(data._setup_names(), dialects, scale)

    def keys(self, dialects: Sequence[str], scale: float) -> dict[str, str]:
        """Return scripts of keys and indexes, made after loading: text by file, in order.

        Scripts that `setup` names are not included. Foreign keys come last, if there are any.

        Raises:
            UsageError: If a file is missing, or if the dialect cannot add foreign keys.
        """
        data = self.data
        if language_of(dialects) == SPARQL:
            return {}
        there = [name for name in KEYS if (data.folder / name).is_file()]
        asked = [name for name in there if name not in data._setup_names()]
        key_scripts = data._scripts(asked, dialects, scale)
        return key_scripts | data._foreign_keys(dialects, scale)

    def row_facts(self, scale: float, sets: int = 0) -> dict[str, Any]:
        """Return the arguments of `generate.table_rows`.

        Raises the errors of `row_queries`.
        """
        queries = self.row_queries(scale, sets)
        generator = self.facts.generator
        return {"generator": generator, "scale": scale, "sets": sets, "queries": queries}

    def row_queries(self, scale: float, sets: int = 0) -> dict[str, str]:
        """Return queries whose rows fill tables, by table; empty for other generators.

        With refresh sets the queries include their tables, and may name `${sets}` and `${orders}`.

        Raises:
            UsageError: If a file is missing, cannot be read, or names an unknown constant.
        """
        if self.source is not None:
            return self.source.row_queries(scale, sets)
        if self.facts.generator != generate.QUERIES:
            return {}
        refresh = self.facts.refresh if sets else None
        tables = (*self.facts.tables, *self.facts.triples, *(refresh.tables if refresh else ()))
        files = {table: f"{ROWS}/{table}.sql" for table in tables}
        further = self.set_sizes(scale, sets) if refresh else texts.NOTHING
        queries = self._scripts(tuple(files.values()), (), scale, further)
        return {table: queries[file] for table, file in files.items()}

    @property
    def refresh(self) -> RefreshFacts:
        """Return the facts of the refresh functions.

        Raises `UsageError` if there are none.
        """
        if self.facts.refresh is None:
            raise UsageError(texts.lacking_table(self.folder, "refresh", "its two operations"))
        return self.facts.refresh

    def refresh_orders(self, scale: float) -> int:
        """Return the number of orders in a refresh set at a scale."""
        return rules.count_at(self.refresh.orders, scale)

    def set_sizes(self, scale: float, sets: int) -> dict[str, str]:
        """Return values for texts of refresh sets: `sets`, and `orders`, the number in a set."""
        return {"sets": str(sets), "orders": str(self.refresh_orders(scale))}

    def statement(
        self,
        operation: str,
        dialects: Sequence[str],
        scale: float,
        seed: int | None = None,
        stream: int = 0,
    ) -> Statement:
        """Return an operation's text with its parameters, which are the defaults without a seed.

        Raises:
            UsageError: If the file is missing or a rule cannot be evaluated.
        """
        if operation in self.given:
            return Statement(operation, self.given[operation], f"{operation}.sql", {})
        plain = self._plain(operation)
        path = self.operation_file(plain, dialects)
        facts = self.facts.operations[plain]
        constants = rules.constants_at(self.facts.constants, scale)
        template, drawn_later = read_text(path), plain in self.drawn_operations
        registers = programs.registers_in(template) if facts.program else self._value_names(plain)
        try:
            parameter_rules = {
                name: {"default": f"${{{name}}}"}
                if drawn_later
                else rules.rule_at(name, facts.parameters[name], constants, scale)
                for name in (*facts.parameters, *registers)
                if name not in constants
            }
            text, values = texts.render(
                template,
                operation,
                self.facts,
                scale,
                fixed=constants,
                parameter_rules=parameter_rules,
                drawn=None if drawn_later or seed is None else texts.Drawn(seed, stream),
            )
        except ValueError as error:
            raise UsageError(f"{path}: {error}") from error
        given = {name: values[name] for name in facts.parameters if not drawn_later}
        statement = Statement(operation, text, path.name, given)
        lacking = self._removed_of(operation)
        return self._rewritten(statement, lacking, dialects, scale) if lacking else statement

    def parts(self, operation: str, dialects: Sequence[str], scale: float) -> list[QueryPart]:
        """Return the parts of an operation that can be removed, the whole computation first.

        Raises:
            UsageError: If the text is not one query.
        """
        from assay.workloads import rewriting

        text = self.statement(operation, dialects, scale).text
        return rewriting.parts(text, dialects, *self.declared(dialects, scale))

    def storable(
        self, operation: str, dialects: Sequence[str], scale: float, seed: int | None = None
    ) -> tuple[list[StoredValue], list[str]]:
        """Return what columns could store of an operation, and the columns that it then reads.

        Without a seed, parameters are the defaults. Raises `UsageError` if nothing can be stored.
        """
        from assay.workloads import rewriting

        text = self.statement(operation, dialects, scale, seed).text
        return rewriting.storable(text, dialects, *self.declared(dialects, scale))

    def script(
        self, dialects: Sequence[str], scale: float, seed: int, parameters: Parameters = "default"
    ) -> Script:
        """Return the script of sessions: the order's operations, then those executed once.

        If the arrival is `closed`, values are always drawn at each execution. Otherwise they are in
        the texts, and `parameters` says whether they are drawn.

        Raises:
            UsageError: If a file is missing or has no statement, or a rule cannot be evaluated.
        """
        drawn_seed = seed if parameters == "drawn" else None
        names = dict.fromkeys((*self.facts.order, *self.facts.played_once, *self.checks))
        operations = tuple(self._scripted(name, dialects, scale, drawn_seed) for name in names)
        return Script(operations, parameters=self._program_counts(scale))

    def recovered_script(self, dialects: Sequence[str], scale: float) -> Script:
        """Return the script that is executed on a recovered database.

        Raises:
            UsageError: For the same reasons as `script`.
        """
        names = dict.fromkeys(self.facts.recovered)
        return Script(tuple(self._scripted(name, dialects, scale, None) for name in names))

    @property
    def has_made_data(self) -> bool:
        """Return True if a generator made all data, so that answers can be recomputed."""
        return bool(self.facts.generator and self.facts.tables)

    def _removed_of(self, operation: str) -> list[str]:
        """Return parts to remove from an operation: `sort` is for all, `q18/sort` for q18."""
        placed = [part.rpartition("/") for part in self.removed]
        return [part for name, _, part in placed if name in ("", operation_of(operation))]

    def _rewritten(
        self, statement: Statement, parts: Sequence[str], dialects: Sequence[str], scale: float
    ) -> Statement:
        from assay.workloads import rewriting

        name, lacking = statement.operation, ", ".join(parts)
        try:
            declared = self.declared(dialects, scale)
            rewritten = rewriting.without(statement.text, dialects, parts, *declared)
        except UsageError as error:
            if self.server_tables is None:
                return statement  # The server's catalogue may have the columns that are missing.
            raise UsageError(f"--remove {lacking} is not possible for {name}: {error}") from error
        return replace(statement, text=rewritten.text, rewritten=rewritten.facts())

    def column_types(self, dialects: Sequence[str], scale: float) -> known_columns.Types:
        """Return column types by table, as all dialects write them."""
        scripts = self.setup((), scale).values()
        return known_columns.column_types(scripts, dialects, self.server_tables)

    def declared(self, dialects: Sequence[str], scale: float) -> known_columns.Declared:
        """Return the columns of each table with its keys, and the query of each view."""
        scripts = {**self.setup(dialects, scale), **self.keys(dialects, scale)}
        return known_columns.declared(scripts.values(), dialects, self.server_tables)

    def _scripted(
        self, operation: str, dialects: Sequence[str], scale: float, seed: int | None
    ) -> ScriptOperation:
        text = self.statement(operation, dialects, scale, seed).text
        path = self.operation_file(operation_of(operation), dialects)
        plain, fixed = self._plain(operation), operation in self.checks
        program = self.facts.operations[plain].program
        try:
            if program is not None:
                made = programs.operation(operation, program, text, dialects)
                return replace(made, fixed=fixed)
            if plain in self.drawn_operations:
                draws = self._draws(plain, scale)
                made = scripts.operation(operation, text, draws, dialects)
                joint = self.facts.operations[plain].values is not None
                return replace(made, fixed=fixed, joint=joint)
            statements = scripts.statements(text, dialects)
        except ValueError as error:
            raise UsageError(f"{path}: {error}") from error
        return ScriptOperation(
            operation, tuple(ScriptStatement(statement) for statement in statements)
        )

    def _program_counts(self, scale: float) -> dict[str, int]:
        try:
            return rules.counts_at(self.facts.programs, scale)
        except ValueError as error:
            raise UsageError(f"{self.folder / MANIFEST}: programs: {error}") from error

    def _values_file(self, operation: str) -> Path | None:
        named = self.facts.operations[operation].values
        return None if named is None else self.folder / named

    def _value_names(self, operation: str) -> tuple[str, ...]:
        file = self._values_file(operation)
        return () if file is None else writing.value_names(file)

    def _draws(self, operation: str, scale: float) -> list[Draw]:
        """Return the draws of an operation's values.

        Raises `ValueError` if some are not known.
        """
        if (unknown := self._unknown_values()).get(operation):
            count, first = sum(map(len, unknown.values())), unknown[operation][0]
            more = "" if count == 1 else f" (likewise of {count - 1} more, in {', '.join(unknown)})"
            raise ValueError(
                f"parameter {first} has no values yet{more}: write values into "
                f"{self.folder / MANIFEST} as choice = [17, 4711], or two bounds as integer = "
                "[1, 1000]"
            )
        file = self._values_file(operation)
        if file is not None:
            values = writing.read_values(file).items()
            return [Draw(name, choice=choice) for name, choice in values]
        constants = rules.constants_at(self.facts.constants, scale)
        return [
            rules.draw_at(name, rule, self.facts.lists, constants, scale)
            for name, rule in self.facts.operations[operation].parameters.items()
        ]

    def _unknown_values(self) -> dict[str, list[str]]:
        """Return the parameters that a capture left without values, by operation."""
        unknown = {
            name: [
                parameter
                for parameter, rule in self.facts.operations[name].parameters.items()
                if rule.choice == []
            ]
            for name in self.facts.order
            if name in self.facts.operations
        }
        return {name: parameters for name, parameters in unknown.items() if parameters}

    def _scripts(
        self,
        names: Sequence[str],
        dialects: Sequence[str],
        scale: float,
        further: Mapping[str, str] = texts.NOTHING,
    ) -> dict[str, str]:
        return texts.scripts_at(self.folder, self.facts, names, dialects, scale, further)

    def _foreign_keys(self, dialects: Sequence[str], scale: float) -> dict[str, str]:
        """Return the script of foreign keys, if requested; one with only comments says why not."""
        name = self.facts.foreign_keys
        if name is None or not self.foreign_keys:
            return {}
        foreign_key_scripts = self._scripts([name], dialects, scale)
        try:
            scripts.statements(foreign_key_scripts[name], dialects)
        except ValueError as error:
            path = texts.version(self.folder / name, dialects)
            raise UsageError(
                f"--foreign-keys: {path}: {error}, because this engine cannot add foreign keys: "
                "remove the option"
            ) from error
        return foreign_key_scripts

    def _setup_names(self) -> tuple[str, ...]:
        if self.facts.setup is not None:
            return self.facts.setup
        return (SETUP_DEFAULT,) if (self.folder / SETUP_DEFAULT).is_file() else ()

    def _plain(self, operation: str) -> str:
        """Return the operation that a check belongs to; other operations are returned unchanged."""
        return operation_of(operation) if operation in self.checks else operation

    def operation_file(self, operation: str, dialects: Sequence[str]) -> Path:
        """Return the file of an operation in a dialect.

        Raises `UsageError` if the file is missing.
        """
        if operation in self.of_source:
            return self.data.operation_file(operation, dialects)
        suffix = suffix_of(dialects)
        plain = self.operations_folder / f"{operation}{suffix}"
        path = texts.version(plain, dialects)
        if path is None:
            others = ", ".join(
                texts.versions(self.folder, plain.relative_to(self.folder).as_posix())
            )
            spoken = f" or {operation}.{dialects[0]}{suffix}" if dialects else ""
            hint = f"; what is there is for other dialects: {others}" if others else ""
            raise UsageError(f"{plain}{spoken} is missing{hint}")
        return path

    def _relative(self, part: str) -> list[str]:
        files = sorted((self.folder / part).rglob("*"))
        return [str(path.relative_to(self.folder)) for path in files if path.is_file()]
