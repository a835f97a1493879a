"""Makes Trino tables in the metastore, fills them with files, and gathers statistics.

A table of the metastore is a directory, whose files hold its rows. Files written into a table's
directory are loaded without Trino. The metastore contains no path, so the data directory can be
moved.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.bridge.statements import execute, split
from assay.engines.contract import EngineError
from assay.engines.lake import count_rows, table_files, write_table
from assay.engines.server_files import new_server_directory, server_directory
from assay.engines.trino.connecting import file_text, filled

if TYPE_CHECKING:
    from assay.engines.bridge.link import Link
    from assay.engines.contract import Instance
    from assay.engines.loading import ArrowStream

# Number of files of a large table, which can be read in parallel.
FILES = 8
# Trino ignores files whose name begins with a dot.
LOADING = ".loading"


def run_script(instance: Instance, sql: str) -> None:
    """Run SQL statements on Trino one by one.

    Raises `EngineError` with the statement.
    """
    link: Link = instance.handle
    link.run(filled("schema.sql", schema=instance.address["schema"]))
    for statement in split(sql):
        run(link, statement)


def run(link: Link, statement: str) -> None:
    """Execute an SQL statement on Trino.

    Raises `EngineError` with the statement.
    """
    execute(link, statement, "Trino")


def load(instance: Instance, table: str, rows: ArrowStream) -> None:
    """Write all rows as files and move them into the Trino table's directory.

    Raises:
        EngineError: If the table does not exist, or the files cannot be written.
    """
    schema = _directory(instance)
    target = schema / table
    if not target.is_dir():
        raise EngineError(f"table {table} cannot be loaded: {target} does not exist")
    staged = schema.parent / f"{LOADING}-{secrets.token_hex(8)}"
    try:
        _written(schema, staged, table, rows)
    except OSError as error:
        raise EngineError(f"table {table} cannot be written to {target}: {error}") from error


def _written(schema: Path, staged: Path, table: str, rows: ArrowStream) -> None:
    """Write files into a new directory, and move them into the table's directory.

    Raises `OSError`, also if one of the directories is a link.
    """
    with server_directory(schema.parent) as lake:
        with new_server_directory(staged.name, lake, replaces=False) as staging:
            write_table(staged, table, rows, FILES)
            number = len(table_files(schema, table))
            with (
                server_directory(staged, table) as source,
                server_directory(schema.parent, schema.name, table) as target,
            ):
                for name in [file.name for file in table_files(staged, table)]:
                    os.rename(
                        name, f"part-{number:05}.parquet", src_dir_fd=source, dst_dir_fd=target
                    )
                    number += 1
            os.rmdir(table, dir_fd=staging)
        os.rmdir(staged.name, dir_fd=lake)


def count(instance: Instance, table: str) -> int:
    """Return a table's number of rows from its files' metadata.

    Raises `EngineError` if the table does not exist.
    """
    if not (_directory(instance) / table).is_dir():
        raise EngineError(f"there is no table {table}")
    return count_rows(_directory(instance), table)


def finish(instance: Instance) -> None:
    """Gather statistics of all Trino tables, and check their row counts."""
    link: Link = instance.handle
    for (table,) in link.text(file_text("tables.sql")):
        name = str(table)
        run(link, filled("analyze.sql", table=name))
        (read,) = link.ask(filled("count.sql", table=name))[0].to_pylist()
        if int(read) != (written := count(instance, name)):
            raise EngineError(
                f"table {name}: its files contain {written} rows, and Trino reads {read}"
            )


def _directory(instance: Instance) -> Path:
    """Return the directory of Assay's schema on a Trino cluster."""
    return Path(instance.address["lake"]) / str(instance.address["schema"])
