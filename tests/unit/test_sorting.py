"""Rows come sorted, whole and the same every time, whatever memory there is to sort them in."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from assay.model.errors import RunFailedError
from assay.running.data import sorting
from assay.running.data.sorting import SPILLED_SIZES, SortedRows, check_room, sorter
from assay.workloads.generate import estimated_bytes, table_stream

SCALE = 0.01
COLUMNS = ["l_returnflag", "l_shipdate"]
MIB = 1 << 20
TPCH = {"generator": "tpch", "scale": SCALE, "sets": 0, "queries": {}}


def read(rows: object) -> pa.Table:
    return pa.RecordBatchReader.from_stream(rows).read_all()


def lineitem(scale: float = SCALE) -> pa.Table:
    return read(table_stream("tpch", "lineitem", scale, 2))


def by_hand(rows: pa.Table, columns: list[str]) -> pa.Table:
    """The order by columns, and of equal rows by place."""
    numbered = rows.append_column("place", pa.arange(0, rows.num_rows))
    keys = [(name, "ascending") for name in (*columns, "place")]
    return rows.take(pc.sort_indices(numbered, sort_keys=keys))


def test_rows_are_sorted_and_ties_keep_their_place(tmp_path: Path) -> None:
    wanted = lineitem()
    with sorter(tmp_path / "spill", 0) as connection:
        sorted_rows = SortedRows(table_stream("tpch", "lineitem", SCALE, 2), COLUMNS, connection)
        sorted_table = read(sorted_rows)
        assert sorted_rows.rows == wanted.num_rows
        assert sorted_rows.rows_expected > 0
    assert sorted_table.schema == wanted.schema
    assert sorted_table == by_hand(wanted, COLUMNS)
    assert not (tmp_path / "spill").exists()


def test_what_has_no_place_in_memory_is_spilled_and_the_rows_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scale = 0.1
    monkeypatch.setattr(sorting, "MEMORY_SHARE", 0.0)
    monkeypatch.setattr(sorting, "MEMORY_MIN_BYTES", 96 * MIB)
    needed = estimated_bytes(TPCH | {"scale": scale}, "lineitem")
    assert needed > 90 * MIB
    spilled = 0
    with sorter(tmp_path / "spill", needed) as connection:
        rows = SortedRows(table_stream("tpch", "lineitem", scale, 2), COLUMNS, connection)
        batches = []
        for batch in pa.RecordBatchReader.from_stream(rows):
            batches.append(batch)
            files = [path.stat().st_size for path in (tmp_path / "spill").rglob("*")]
            spilled = max(spilled, sum(files))
    assert 0 < spilled < needed * SPILLED_SIZES
    assert pa.Table.from_batches(batches) == by_hand(lineitem(scale), COLUMNS)


def test_what_fits_nowhere_is_refused_before_anything_is_sorted(tmp_path: Path) -> None:
    check_room(100 * MIB, 1000 * MIB, tmp_path)
    check_room(MIB, 1, tmp_path)
    with pytest.raises(RunFailedError, match="XDG_STATE_HOME"):
        check_room(2.0**60, 1000 * MIB, tmp_path)


def test_rows_that_got_lost_are_no_table(tmp_path: Path) -> None:
    class Losing:
        """Says that it made more rows than it hands out."""

        rows, rows_expected, checksum = 4, 3, "c"

        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            batch = pa.record_batch({"a": [3, 1, 2]})
            reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
            return reader.__arrow_c_stream__(requested_schema)

    with sorter(tmp_path / "spill", 0) as connection:
        rows = SortedRows(Losing(), ["a"], connection)
        with pytest.raises(
            pa.ArrowException, match="4 rows were sorted, but the result has 3 rows"
        ):
            read(rows)
        assert "4 rows were sorted," in str(rows.failure)


def test_sorted_rows_that_were_ended_fail_at_their_next_read(tmp_path: Path) -> None:
    made = table_stream("tpch", "lineitem", SCALE, 1)
    with sorter(tmp_path / "spill", 0) as connection:
        rows = SortedRows(made, COLUMNS, connection)
        batches = pa.RecordBatchReader.from_stream(rows)
        rows.end()
        with pytest.raises((pa.ArrowException, OSError)):
            batches.read_all()
    assert (made.rows, rows.rows) == (0, 0)


def test_an_estimate_is_near_what_the_rows_take() -> None:
    estimated = estimated_bytes(TPCH, "lineitem")
    assert estimated == pytest.approx(lineitem().nbytes, rel=0.1)
