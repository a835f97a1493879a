"""Loads a workload's data into the reference engine's memory, if they fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from assay.model.errors import RunFailedError
from assay.running.host.memory import MEMINFO, available_bytes
from assay.running.reference.data import NUMBERS, ReferenceData, RefreshSets
from assay.running.reference.engine import columns_read
from assay.workloads.generate import table_rows
from assay.workloads.refreshing import NEW, OLD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.engines.contract import Tell

GIB = 1 << 30
# Peak memory of the process as a multiple of the tables' size:
# benchmarks/bench_reference_memory.py.
MEMORY_FACTOR = 3.0


def loaded(job: Mapping[str, Any], texts: Sequence[str], tell: Tell) -> tuple[ReferenceData, int]:
    """Return the columns that queries read with all rows, and the bytes left for queries.

    Raises:
        RunFailedError: If the host has too little memory.
    """
    tables = {name: _Table(job, name) for name in job["tables"]}
    columns = columns_read(texts, {name: table.schema for name, table in tables.items()})
    refresh = job["refresh"]
    for name, key in (refresh["deletes"] if refresh else {}).items():
        if columns[name] and key not in columns[name]:
            columns[name].append(key)
    read = {name: table for name, table in tables.items() if columns[name]}
    available = available_bytes(MEMINFO)
    needed = round(sum(table.estimated_bytes(columns[name]) for name, table in read.items()))
    if needed * MEMORY_FACTOR > available:
        raise RunFailedError(
            f"the reference needs about {needed * MEMORY_FACTOR / GIB:.1f} GiB of memory, and"
            f" {available / GIB:.1f} GiB are available"
        )
    expected = sum(table.rows_expected for table in read.values())
    rows: dict[str, list[pa.RecordBatch]] = {}
    done = 0
    for name, table in read.items():
        rows[name] = []
        for batch in table.batches(columns[name]):
            rows[name].append(batch)
            done += batch.num_rows
            tell("reference data", done, expected, "rows")
    # The number of rows of a table was only estimated.
    tell("reference data", done, done, "rows")
    sets = _refresh_sets(job, columns) if refresh else None
    return ReferenceData(rows, sets), available - needed


class _Table:
    """A generated table, whose first rows give an estimate of its total memory."""

    def __init__(self, job: Mapping[str, Any], name: str) -> None:
        self._stream = table_rows(job, name, job["threads"])
        self._reader = pa.RecordBatchReader.from_stream(self._stream)
        self._first: pa.RecordBatch | None = None
        self.schema: pa.Schema = self._reader.schema

    @property
    def rows_expected(self) -> int:
        return self._stream.rows_expected

    def estimated_bytes(self, columns: Sequence[str]) -> float:
        """Return the estimated bytes of memory for some columns of all rows."""
        if self._first is None:
            self._first = next(iter(self._reader), None)
        if self._first is None or not self._first.num_rows:
            return 0.0
        first_bytes: int = self._first.select(columns).nbytes
        share: float = self.rows_expected / self._first.num_rows
        return first_bytes * share

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield all rows of the table once."""
        if self._first is not None:
            yield self._first.select(columns)
            self._first = None
        for batch in self._reader:
            yield batch.select(columns)


def _refresh_sets(job: Mapping[str, Any], columns: Mapping[str, Sequence[str]]) -> RefreshSets:
    refresh = job["refresh"]
    rows = {}
    for name in refresh["tables"]:
        table = _Table(job, name)
        read = columns.get(name.removesuffix(NEW), [])
        if name.endswith(OLD):
            wanted = table.schema.names
        elif read:
            wanted = [*NUMBERS, *read]
        else:
            continue
        rows[name] = pa.Table.from_batches(
            table.batches(wanted), table.schema.empty_table().select(wanted).schema
        )
    deletes = {name: key for name, key in refresh["deletes"].items() if columns[name]}
    return RefreshSets(refresh["batches"], refresh["orders"], rows, deletes)
