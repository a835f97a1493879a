"""Holds a workload's data in memory, in any state that refresh functions produce.

State n for k batches per function: set after set, k batches of new rows were inserted and then k
batches of old keys deleted, n batches in total. Batch b of a set of N orders ends with order b * N
/ k, rounded down. Unchanged data are shared between states.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from assay.workloads.refreshing import NEW, OLD, ORDER, SET

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NUMBERS = (SET, ORDER)


@dataclass(frozen=True)
class RefreshSets:
    """The rows that TPC-H's refresh functions insert and delete.

    Attributes:
        batches: Number of transactions of each function.
        orders: Number of orders in a set.
        tables: Rows of the sets by table, with `set_number` and `order_number`. `x_new` has the
            rows to insert into `x`, the single `x_old` the keys to delete.
        deletes: Key column of each table that rows are deleted from.
    """

    batches: int
    orders: int
    tables: Mapping[str, pa.Table]
    deletes: Mapping[str, str]

    def inserted(self, table: str, state: int) -> pa.Table | None:
        """Return rows inserted into a table up to a data state; None for other tables."""
        new = self.tables.get(table + NEW)
        return None if new is None else self._until(new, *self._progress(state, 0))

    def deleted(self, state: int) -> pa.ChunkedArray | None:
        """Return the keys of rows deleted up to a data state; None without deletes."""
        old = next((rows for name, rows in self.tables.items() if name.endswith(OLD)), None)
        if old is None:
            return None
        keys = self._until(old, *self._progress(state, self.batches))
        return keys.column(0)

    def changes(self, table: str) -> bool:
        """Return True if refresh functions change a table."""
        return table + NEW in self.tables or table in self.deletes

    def _progress(self, state: int, before: int) -> tuple[int, int]:
        """Return how many refresh sets are complete, and orders in the next set."""
        sets, batches = divmod(state, 2 * self.batches)
        done = min(max(0, batches - before), self.batches)
        return sets, done * self.orders // self.batches

    @staticmethod
    def _until(rows: pa.Table, sets: int, orders: int) -> pa.Table:
        whole = pc.less_equal(rows[SET], sets)
        part = pc.and_(pc.equal(rows[SET], sets + 1), pc.less_equal(rows[ORDER], orders))
        return rows.filter(pc.or_(whole, part)).drop_columns(list(NUMBERS))


class _Part:
    """Rows of a table that are searched together when keys are deleted."""

    def __init__(self, batch: pa.RecordBatch, key: str | None) -> None:
        self.batch = batch
        self._key = key
        if key is not None and batch.num_rows:
            bounds = pc.min_max(batch.column(key)).as_py()
            self._least, self._most = bounds["min"], bounds["max"]

    def without(self, keys: Sequence[int]) -> pa.RecordBatch:
        """Return the rows without those that have one of some sorted keys."""
        if self._key is None or not self.batch.num_rows:
            return self.batch
        here = keys[bisect_left(keys, self._least) : bisect_right(keys, self._most)]
        if not here:
            return self.batch
        column = self.batch.column(self._key)
        goes = pc.is_in(column, value_set=pa.array(here, column.type))
        return self.batch.filter(pc.invert(goes))


class ReferenceData:
    """All tables of a workload in memory, in any state of the data.

    Args:
        tables: Batches of each table as loaded.
        refresh: Refresh functions' rows; None without refresh functions.
    """

    def __init__(
        self, tables: Mapping[str, Sequence[pa.RecordBatch]], refresh: RefreshSets | None = None
    ) -> None:
        self._refresh = refresh
        deletes = {} if refresh is None else refresh.deletes
        self._parts = {
            table: [_Part(batch, deletes.get(table)) for batch in batches]
            for table, batches in tables.items()
        }

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables in memory."""
        return tuple(self._parts)

    @property
    def nbytes(self) -> int:
        """The bytes of the rows as loaded."""
        return sum(part.batch.nbytes for parts in self._parts.values() for part in parts)

    def changes(self, table: str) -> bool:
        """Return True if refresh functions change a table."""
        return self._refresh is not None and self._refresh.changes(table)

    def at(self, table: str, state: int) -> list[pa.RecordBatch]:
        """Return the rows of a table in one state of the data."""
        parts = self._parts[table]
        if self._refresh is None or not self._refresh.changes(table):
            return [part.batch for part in parts]
        keys: list[int] = []
        if table in self._refresh.deletes and (gone := self._refresh.deleted(state)) is not None:
            keys = sorted(gone.to_pylist())
        new = self._refresh.inserted(table, state)
        if new is not None:
            key = self._refresh.deletes.get(table)
            columns = parts[0].batch.schema
            parts = [*parts, *(_Part(batch, key) for batch in new.cast(columns).to_batches())]
        return [part.without(keys) for part in parts]
