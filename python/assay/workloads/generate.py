"""Generates rows of tables, by generators of the compiled core or by a workload's queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from assay import _core
from assay._core import TableStream
from assay.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

# Version of the core's generators; cached data are valid while it does not change.
VERSION = _core.GENERATORS_VERSION
# Generator whose rows are the results of `rows/<table>.sql`.
QUERIES = "sql"


class Rows(Protocol):
    """Interface of a stream with the generated rows of one table."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the generated rows as an Arrow C stream capsule."""
        ...

    def end(self) -> None:
        """Have the next read of the stream fail, from any thread."""
        ...

    @property
    def rows(self) -> int:
        """The number of generated rows that were read."""
        ...

    @property
    def rows_expected(self) -> int:
        """Return the total number of rows, which may be an estimate."""
        ...

    @property
    def checksum(self) -> str:
        """The checksum of all generated rows read, as 16 hexadecimal digits."""
        ...


def version(generator: str | None) -> int | str | None:
    """Return the version of a row generator, which is part of the key of cached data."""
    if generator is None:
        return None
    if generator == QUERIES:
        from assay.workloads import row_queries

        return row_queries.version()
    return VERSION


def table_rows(job: Mapping[str, Any], table: str, threads: int) -> Rows:
    """Return a table's generated rows, which do not depend on the number of threads.

    `job` has `generator`, `scale`, `sets` (number of refresh sets, for their tables) and `queries`,
    the texts by table for the generator `sql`. `job` may have a `seed` for other data than the
    usual.

    Raises:
        UsageError: If the scale or the number of sets is out of range, if the generator has no such
            table or no seed, or if its query is refused.
    """
    seed = job.get("seed")
    if job["generator"] != QUERIES:
        return table_stream(job["generator"], table, job["scale"], threads, job["sets"], seed)
    if seed is not None:
        raise UsageError("the generator sql creates rows by queries, which have no seed")
    from assay.workloads.row_queries import RowQuery

    return RowQuery(job["queries"][table], f"rows/{table}.sql", threads)


def table_stream(
    generator: str,
    table: str,
    scale: float,
    threads: int,
    sets: int = 0,
    seed: int | None = None,
) -> TableStream:
    """Return a table's rows from a generator of the core; see `table_rows`.

    Raises:
        UsageError: If the scale or the number of sets is out of range, or the generator has no such
            table, or no seed.
    """
    try:
        return TableStream(generator, table, scale, threads, sets, seed)
    except ValueError as error:
        raise UsageError(str(error)) from error


def refresh_sets_max(scale: float) -> int:
    """Return the maximum number of refresh sets at a scale."""
    return _core.refresh_sets_max(scale)


def column_names(job: Mapping[str, Any], table: str) -> list[str]:
    """Return the column names of a table.

    Raises the errors of `table_rows`.
    """
    import pyarrow as pa

    names: list[str] = pa.RecordBatchReader.from_stream(table_rows(job, table, 1)).schema.names
    return names


def estimated_bytes(job: Mapping[str, Any], table: str) -> float:
    """Estimate the memory in bytes of all rows of a table from its first ones.

    Raises the errors of `table_rows`.
    """
    import pyarrow as pa

    rows = table_rows(job, table, 1)
    first = next(iter(pa.RecordBatchReader.from_stream(rows)), None)
    return 0.0 if not first else first.nbytes / first.num_rows * rows.rows_expected
