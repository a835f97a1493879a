"""Makes the kept answers of BSBM's workloads.

DuckDB answers the queries as they stand in SQL, over the relational form of the data, with the values of a run's
checks. Its rows are written as RDF terms. The results of engines that are queried in SPARQL are compared with these
rows, which come from another query text, other files and another engine. With --rdflib, which has to be installed
beside the lab and is slow, the queries are asked in SPARQL, too, over the statements that engines load, and nothing
is written unless both say the same. Of queries with LIMIT all rows are kept that tie with the last one.

    python benchmarks/bsbm/answers.py --scale 1000
    pip install rdflib
    python benchmarks/bsbm/answers.py --scale 100 --rdflib
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow
from rdf_terms import COLUMNS, TRANSLATED, Rows, Things, kept

from assay import _core
from assay.analysis.answers.comparison import Expected, Tolerances, difference, expected_text
from assay.workloads.discovery import OURS, find_workload
from assay.workloads.facts import AS_CHECK
from assay.workloads.generate import table_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.workloads.contract import Workload
    from assay.workloads.operation_facts import OperationFacts

WORKLOADS = ("bsbm", "bsbm-bi")
DIALECTS = ("duckdb", "postgresql")
CUT = re.compile(r"(?i)\s+(limit \d+|offset \d+)(?=\s|$)")
# What rdflib 7 gets wrong: values that it hands into subqueries have it count what does not match (q2) and lose a count
# (q8), and of rows of a union that are alike it has one (q6).
RDFLIB_WRONG = {("bsbm-bi", "q2"), ("bsbm-bi", "q6"), ("bsbm-bi", "q8")}
# In which order rows come in SPARQL that is not theirs in SQL: columns, with those that fall. Numbers of things are not in
# the order of their names.
ORDERS = {
    ("bsbm-bi", "q1"): ((1, True), (0, False)),
    ("bsbm-bi", "q2"): ((1, True), (0, False)),
    ("bsbm-bi", "q3"): ((1, True), (0, False)),
    ("bsbm-bi", "q4"): ((1, True), (0, False)),
    ("bsbm-bi", "q5"): ((2, True), (0, False), (1, False)),
    ("bsbm-bi", "q8"): ((1, True), (0, False)),
}
# Averages are of 32 bits in one of the two.
FLOATS_APART = 1e-5


def main() -> int:
    """Makes the answers of one scale; 1 if two ways to make them differ."""
    options = _options()
    graph = _graph(options.scale) if options.rdflib else None
    with duckdb.connect() as connection:
        _load(connection, options.scale)
        things, wrong = Things(connection), 0
        for name in WORKLOADS:
            workload = find_workload(name)
            for operation in workload.facts.checked:
                asked = Asked(workload, operation, options.scale)
                sql = _asked_in_sql(asked, connection)
                sparql = _translated(asked, sql, things)
                line = f"{name} {operation}: {len(sql.rows)} rows"
                different = None if graph is None else _differs(asked, sparql, graph)
                print(f"{line}; {different}" if different else line, flush=True)
                if different is None:
                    _write(asked, options.out, {"sql": sql, "sparql": sparql})
                wrong += different is not None
    return min(wrong, 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Makes the kept answers of BSBM's workloads.")
    parser.add_argument("--scale", type=int, required=True, help="products, such as 1000")
    parser.add_argument("--out", type=Path, default=OURS, help="folder of the workloads")
    parser.add_argument("--rdflib", action="store_true", help="ask rdflib, too, and compare")
    return parser.parse_args()


@dataclass(frozen=True)
class Asked:
    """A query at a scale."""

    workload: Workload
    operation: str
    scale: int

    @property
    def facts(self) -> OperationFacts:
        """Return the facts that the workload's manifest declares for the query."""
        return self.workload.facts.operations[self.operation]

    @property
    def key(self) -> tuple[str, str]:
        """Its name."""
        return self.workload.facts.name, self.operation

    def values(self, dialects: Sequence[str]) -> tuple[str, list[object]]:
        """Its text, without what cuts its rows off, and the values of its places in a check."""
        script = self.workload.script(dialects, self.scale, 0)
        names = [operation.name for operation in script.operations]
        player = _core.Player(json.dumps(script.facts()), 0, 0)
        number = names.index(self.operation + AS_CHECK)
        player.begin(number)
        statement, values = player.next() or (0, [])
        text = script.operations[number].statements[statement].text
        body, closing, end = text.rpartition("}")
        return body + closing + CUT.sub("", end), values


def _translated(asked: Asked, sql: Rows, things: Things) -> Rows:
    """Rows of tables as a record keeps those of an engine that is asked in SPARQL."""
    made = kept(COLUMNS[asked.key], TRANSLATED[asked.key](things, sql.rows))
    for place, falling in reversed(ORDERS.get(asked.key, ())):
        made.rows.sort(key=lambda row, place=place: row[place], reverse=falling)
    return made


def _differs(asked: Asked, wanted: Rows, graph: Any) -> str | None:
    """How rdflib's rows differ, in any order; None if they do not."""
    rows = _asked_in_sparql(asked, graph)
    if asked.key in RDFLIB_WRONG:
        return None
    expected = Expected(wanted.columns, tuple(map(_texts, _sorted(wanted))), ())
    tolerances = Tolerances.of(asked.facts.answer, 0, 0, 1, FLOATS_APART)
    return difference(_sorted(rows), expected, tolerances)


def _write(asked: Asked, out: Path, answers: dict[str, Rows]) -> None:
    for language, rows in answers.items():
        folder = out / asked.workload.facts.name / "answers" / language / f"sf{asked.scale}"
        folder.mkdir(parents=True, exist_ok=True)
        tied_rows = _with_ties(rows, asked.facts)
        (folder / f"{asked.operation}.csv").write_text(
            expected_text(tied_rows.columns, tied_rows.rows)
        )


def _with_ties(rows: Rows, facts: OperationFacts) -> Rows:
    """Rows to the last one that is returned, and all that tie with it; sorted where they have no order."""
    if not facts.ordered_by:
        return Rows(rows.columns, _sorted(rows))
    if facts.limit is None or len(rows.rows) <= facts.offset + facts.limit:
        return rows
    expected = Expected(rows.columns, tuple(map(_texts, rows.rows)), facts.ordered_by)
    tolerances = Tolerances.of(facts.answer, 0, 0, 1, FLOATS_APART)
    last = facts.offset + facts.limit - 1
    there = next(tied.stop for tied in expected.ties(tolerances) if last in tied)
    return Rows(rows.columns, rows.rows[:there])


def _texts(row: Sequence[object]) -> tuple[str | None, ...]:
    line = expected_text((), [row]).split("\n")[1]
    return tuple(cell or None for cell in line.split("|"))


def _sorted(rows: Rows) -> list[tuple[object, ...]]:
    """Rows by all that is exact in them."""
    return sorted(
        rows.rows, key=lambda row: [str(value) for value in row if type(value) is not float]
    )


# In SPARQL.


def _graph(scale: int) -> Any:
    try:
        import rdflib
    except ImportError:
        sys.exit("rdflib is missing: pip install rdflib")
    facts = find_workload("bsbm").row_facts(scale)
    graph = rdflib.Graph()
    for batch in pyarrow.RecordBatchReader.from_stream(table_rows(facts, "triples", 1)):
        graph.parse(data="".join(batch.column(0).to_pylist()), format="nt")
    print(f"rdflib has {len(graph):,} statements", flush=True)
    return graph


def _asked_in_sparql(asked: Asked, graph: Any) -> Rows:
    text, values = asked.values(("sparql",))
    for place, value in enumerate(values, 1):
        text = text.replace(f"${{{place}}}", str(value))
    result = graph.query(text)
    rows = result.graph if result.type in ("CONSTRUCT", "DESCRIBE") else result
    return kept(COLUMNS[asked.key], [tuple(map(_term, row)) for row in rows])


def _term(term: Any) -> tuple[str, str | None, str | None] | None:
    """Return the text, the data type and the language of a value; None for an unbound one."""
    import rdflib

    if term is None:
        return None
    if isinstance(term, rdflib.URIRef):
        return (str(term), "iri", None)
    return (str(term), None if term.datatype is None else str(term.datatype), term.language)


# In SQL.


def _load(connection: duckdb.DuckDBPyConnection, scale: int) -> None:
    workload = find_workload("bsbm")
    for text in workload.setup(DIALECTS, scale).values():
        connection.execute(text)
    for table in workload.facts.tables:
        rows = table_rows(workload.row_facts(scale), table, 1)
        made = connection.from_arrow(pyarrow.RecordBatchReader.from_stream(rows))
        made.insert_into(table)


def _asked_in_sql(asked: Asked, connection: duckdb.DuckDBPyConnection) -> Rows:
    text, values = asked.values(DIALECTS)
    result = connection.execute(text, values)
    return Rows(tuple(column[0] for column in result.description), result.fetchall())


if __name__ == "__main__":
    sys.exit(main())
