"""Rows of tables: from generators of the compiled core, or from queries of a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from assay import _core
from assay._core import TableStream
from assay.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

# What the generators of the core made is kept as long as this is the same.
VERSION = _core.GENERATORS_VERSION
# The generator whose rows are selected by `rows/<table>.sql`.
QUERIES = "sql"


class Rows(Protocol):
    """The rows of one table, made while they are read, once."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The stream, in a capsule."""
        ...

    @property
    def rows(self) -> int:
        """Number of rows that were read so far."""
        ...

    @property
    def rows_expected(self) -> int:
        """Rows there will be; may be an estimate."""
        ...

    @property
    def checksum(self) -> str:
        """Checksum of all that was handed out, as 16 hexadecimal digits."""
        ...


def version(generator: str | None) -> int | str | None:
    """Return the generator's version, by which rows that were made from it are kept."""
    if generator is None:
        return None
    if generator == QUERIES:
        from assay.workloads import row_queries

        return row_queries.version()
    return VERSION


def table_rows(job: Mapping[str, Any], table: str, threads: int) -> Rows:
    """A table's rows, made on `threads` threads, the same bytes for any number of them.

    `job` has `generator`, `scale`, `sets` (how many refresh sets are made, of a table that holds
    them) and `queries`, which has the text of each table that the generator `sql` makes. It may
    have a `seed` for data other than those that are usually made.

    Raises:
        UsageError: If the scale or the number of sets is out of range, the generator has no such
            table or no seed, or its query is refused.
    """
    seed = job.get("seed")
    if job["generator"] != QUERIES:
        return table_stream(job["generator"], table, job["scale"], threads, job["sets"], seed)
    if seed is not None:
        raise UsageError("generator sql makes the rows of queries: they have no seed")
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
    """A table's rows as a generator of the core makes them; see `table_rows`.

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
    """The columns of a table. Raises as `table_rows`."""
    import pyarrow as pa

    names: list[str] = pa.RecordBatchReader.from_stream(table_rows(job, table, 1)).schema.names
    return names


def estimated_bytes(job: Mapping[str, Any], table: str) -> float:
    """Estimate the memory of all rows of a table from its first ones. Raises as `table_rows`."""
    import pyarrow as pa

    rows = table_rows(job, table, 1)
    first = next(iter(pa.RecordBatchReader.from_stream(rows)), None)
    return 0.0 if not first else first.nbytes / first.num_rows * rows.rows_expected
