"""What engines share: SQL of files cut, programs asked, batches for several connections."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from assay.engines.contract import EngineError
from assay.engines.feeding import fed
from assay.engines.programs import inherited, run_program
from assay.engines.sql_text import SqlText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engines.feeding import Batches

SQL = SqlText(comment=r"--[^\n]* | /\*.*?\*/", opaque=r"'(?:[^']|'')*'")


class TestSql:
    """Oracle: by hand, what a file says."""

    def test_statements_end_where_a_semicolon_is_one(self) -> None:
        sql = "load 'a;b'; -- no; end\nstore /* ; */ $1;;\n ; "
        assert SQL.split(sql) == ["load 'a;b'", "store   $1"]

    def test_a_statement_is_cut_where_values_go(self) -> None:
        assert SQL.pieces("f($2, '$3', $10)") == ["f(", 1, ", '$3', ", 9, ")"]
        assert SQL.written("f($2, '$3')", lambda place: f"<{place}>") == "f(<1>, '$3')"


class TestPrograms:
    def test_it_is_told_what_the_program_says(self) -> None:
        command = [sys.executable, "-c", "import os; print(sorted(os.environ))"]
        result = run_program(command, inherited("/nowhere"), "it")
        assert "'LD_LIBRARY_PATH'" in result.stdout
        assert "'PATH'" in result.stdout
        assert "'HOME'" not in result.stdout

    def test_one_that_does_not_run_is_told_with_its_mend(self) -> None:
        with pytest.raises(EngineError, match=r"the server does not run on this host.*--bin-dir"):
            run_program(["/nowhere/server"], inherited(), "the server")


def batches(count: int) -> pa.RecordBatchReader:
    schema = pa.schema([("a", pa.int64())])

    def each() -> Iterator[pa.RecordBatch]:
        for number in range(count):
            yield pa.record_batch([pa.array([number] * number)], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, each())


class TestFeeding:
    def test_each_batch_is_taken_once_and_empty_ones_never(self) -> None:
        taken: list[int] = []

        def take(batches: Batches) -> None:
            taken.extend(batch.num_rows for batch in batches)

        assert fed(batches(20), [take, take, take]) == sum(range(20))
        assert sorted(taken) == list(range(1, 20))

    def test_the_first_failure_ends_all_and_is_raised(self) -> None:
        def fail(batches: Batches) -> None:
            next(iter(batches))
            raise ValueError("refused")

        reader = batches(100)
        with pytest.raises(ValueError, match="refused"):
            fed(reader, [fail])
        assert reader.read_next_batch().num_rows == 2
