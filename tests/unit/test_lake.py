"""Tables as files of Parquet: all rows are there, in files of one size."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.engines.contract import EngineError
from assay.engines.lake import FILE_ROWS_MIN, count_rows, table_files, write_table

if TYPE_CHECKING:
    from pathlib import Path


def _rows(count: int) -> pa.RecordBatchReader:
    table = pa.table(
        {
            "key": pa.array(range(count), pa.int64()),
            "price": pa.array([Decimal("1.25")] * count, pa.decimal128(15, 2)),
            "flag": pa.array(["a"] * count).dictionary_encode(),
            "words": pa.array(["two words"] * count, pa.string_view()),
        }
    )
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=8192))


def test_a_small_table_is_one_file_with_plain_columns(tmp_path: Path) -> None:
    assert write_table(tmp_path, "small", _rows(1000), files=4) == 1000
    (file,) = table_files(tmp_path, "small")
    kinds = [str(field.type) for field in pq.read_schema(file)]
    assert kinds == ["int64", "decimal128(15, 2)", "string", "string"]
    assert count_rows(tmp_path, "small") == 1000


def test_a_large_table_has_all_rows_once_in_as_many_files(tmp_path: Path) -> None:
    count = 5 * FILE_ROWS_MIN + 17
    assert write_table(tmp_path, "large", _rows(count), files=3) == count
    files = table_files(tmp_path, "large")
    assert len(files) == 3
    keys = pl.concat([pl.read_parquet(file)["key"] for file in files])
    assert sorted(keys.to_list()) == list(range(count))
    sizes = [pq.read_metadata(file).num_rows for file in files]
    assert max(sizes) - min(sizes) <= 2 * FILE_ROWS_MIN


def test_a_table_without_rows_is_one_file_with_its_columns(tmp_path: Path) -> None:
    assert write_table(tmp_path, "none", _rows(0), files=3) == 0
    assert pq.read_schema(table_files(tmp_path, "none")[0]).names[0] == "key"
    assert count_rows(tmp_path, "none") == 0


def test_a_table_is_not_written_over_another_one(tmp_path: Path) -> None:
    write_table(tmp_path, "once", _rows(10), files=1)
    with pytest.raises(EngineError, match="once cannot be written"):
        write_table(tmp_path, "once", _rows(10), files=1)


def test_a_file_that_is_cut_is_told(tmp_path: Path) -> None:
    write_table(tmp_path, "cut", _rows(10), files=1)
    file = table_files(tmp_path, "cut")[0]
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(EngineError, match="cut cannot be read"):
        count_rows(tmp_path, "cut")
