"""Computes expected rows with the reference engine, DataFusion, in memory."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.workloads.queries import ordered_by, with_one_more_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import pyarrow as pa

    from assay.running.reference.data import ReferenceData

DIALECT = "datafusion"
TITLE = "DataFusion"
# SQL dialect whose grammar is closest to DataFusion's.
GRAMMAR = "postgres"
SCANNED = re.compile(r"TableScan: (\S+).*? projection=\[([^\]]*)\]")


class NotAnsweredError(Exception):
    """Error: the reference engine cannot compute a query's expected rows."""


@dataclass(frozen=True)
class Answer:
    """The expected rows of a query, from the reference engine.

    Attributes:
        columns: Names of the columns.
        rows: Rows in the returned order.
        ordered_by: Columns of the required order.
    """

    columns: list[str]
    rows: list[tuple[object, ...]]
    ordered_by: list[str]


def version() -> str:
    """Return the version of DataFusion."""
    import datafusion

    return str(datafusion.__version__)


def columns_read(texts: Sequence[str], schemas: Mapping[str, pa.Schema]) -> dict[str, list[str]]:
    """Return the columns of each table that any of the texts reads, in the table's order.

    A text that the engine refuses contributes no columns.
    """
    import pyarrow as pa

    context = _context(None)
    for table, schema in schemas.items():
        empty = pa.RecordBatch.from_pylist([], schema)
        context.register_record_batches(table, [[empty]])
    columns_by_table: dict[str, set[str]] = {}
    for text in texts:
        try:
            plan = context.sql(text, _options()).optimized_logical_plan().display_indent()
        except Exception:  # noqa: BLE001, S112 - the binding has one class for all that may be wrong
            continue
        for table, columns in SCANNED.findall(plan):
            # If rows are only counted, the first column is enough.
            read = columns.split(", ") if columns else schemas[table].names[:1]
            columns_by_table.setdefault(table, set()).update(read)
    return {
        table: [name for name in schema.names if name in columns_by_table.get(table, ())]
        for table, schema in schemas.items()
    }


class ReferenceEngine:
    """Executes queries on the reference engine, on any state of the data.

    Args:
        data: All tables in memory.
        memory_bytes: Memory for queries, in addition to the tables.
    """

    def __init__(self, data: ReferenceData, memory_bytes: int | None = None) -> None:
        self._data = data
        self._context = _context(memory_bytes)
        self._state: int | None = None

    def answer(self, text: str, state: int) -> Answer:
        """Return the expected rows of a query in one state of the data.

        Raises:
            NotAnsweredError: If the engine refuses the query or fails, or if its rows are
                ambiguous, because a limit cuts rows without a defined order.
        """
        more = with_one_more_row(text)
        if more is None:
            return self._execute(text, state)
        longer, limit = more
        longer_answer = self._execute(longer, state)
        if len(longer_answer.rows) > limit:
            places = [longer_answer.columns.index(name) for name in longer_answer.ordered_by]
            last, beyond = longer_answer.rows[limit - 1], longer_answer.rows[limit]
            if all(last[place] == beyond[place] for place in places):
                raise NotAnsweredError(
                    f"rows {limit} and {limit + 1} are equal in its order: either may be the last"
                )
        return replace(longer_answer, rows=longer_answer.rows[:limit])

    def _execute(self, text: str, state: int) -> Answer:
        self._go_to(state)
        try:
            asked = self._context.sql(text, _options())
            names = asked.schema().names
            batches = asked.collect()
        except Exception as error:
            message = " ".join(str(error).split())
            raise NotAnsweredError(f"{TITLE} {version()} refuses it: {message[:300]}") from error
        rows: list[tuple[object, ...]] = []
        for batch in batches:
            rows += zip(*(column.to_pylist() for column in batch.columns), strict=True)
        return Answer(names, rows, ordered_by(text, names, GRAMMAR))

    def _go_to(self, state: int) -> None:
        """Replace the reference engine's tables by those of another data state."""
        if state == self._state:
            return
        for table in self._data.tables:
            if self._state is None:
                self._register(table, state)
            elif self._data.changes(table):
                self._context.deregister_table(table)
                self._register(table, state)
        self._state = state

    def _register(self, table: str, state: int) -> None:
        batches = self._data.at(table, state)
        ways = min(len(batches), os.cpu_count() or 1)
        shares = [batches[way::ways] for way in range(ways)]
        self._context.register_record_batches(table, shares)


def _context(memory_bytes: int | None) -> Any:  # noqa: ANN401 - the package has no types
    import datafusion

    runtime = datafusion.RuntimeEnvBuilder().with_disk_manager_disabled()
    if memory_bytes is not None:
        runtime = runtime.with_greedy_memory_pool(memory_bytes)
    config = datafusion.SessionConfig().with_target_partitions(os.cpu_count() or 1)
    return datafusion.SessionContext(config, runtime)


def _options() -> Any:  # noqa: ANN401 - the package has no types
    """Return DataFusion options that allow only queries."""
    import datafusion

    return (
        datafusion.SQLOptions()
        .with_allow_ddl(allow=False)
        .with_allow_dml(allow=False)
        .with_allow_statements(allow=False)
    )
