"""Tables: made in the metastore, filled with files beside it, their statistics gathered.

A table of the metastore is a directory; what lies in it are its rows. So files that are written
there are loaded, and the whole can be moved: the metastore knows no path.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.bridge.statements import execute, split
from assay.engines.contract import EngineError
from assay.engines.lake import count_rows, table_files, write_table
from assay.engines.trino.connecting import file_text, filled

if TYPE_CHECKING:
    from assay.engines.bridge.link import Link
    from assay.engines.contract import Instance
    from assay.engines.loading import ArrowStream

# So many may read a large table at once.
FILES = 8
# Trino leaves out what begins with a dot.
LOADING = ".loading"


def run_script(instance: Instance, sql: str) -> None:
    """Runs the statements one by one. Raises `EngineError` with the statement."""
    link: Link = instance.handle
    link.run(filled("schema.sql", schema=instance.address["schema"]))
    for statement in split(sql):
        run(link, statement)


def run(link: Link, statement: str) -> None:
    """Executes a statement. Raises `EngineError` with it."""
    execute(link, statement, "Trino")


def load(instance: Instance, table: str, rows: ArrowStream) -> None:
    """Writes all rows as files and moves them into the table's directory.

    Raises:
        EngineError: If the table does not exist, or the files cannot be written.
    """
    schema = _directory(instance)
    target = schema / table
    if not target.is_dir():
        raise EngineError(f"table {table} cannot be loaded: {target} is not there")
    staged = schema.parent / f"{LOADING}-{secrets.token_hex(8)}"
    write_table(staged, table, rows, FILES)
    number = len(table_files(schema, table))
    for file in table_files(staged, table):
        file.rename(target / f"part-{number:05}.parquet")
        number += 1
    (staged / table).rmdir()
    staged.rmdir()


def count(instance: Instance, table: str) -> int:
    """Return a table's rows from its files' metadata. Raises `EngineError` if it does not exist."""
    if not (_directory(instance) / table).is_dir():
        raise EngineError(f"there is no table {table}")
    return count_rows(_directory(instance), table)


def finish(instance: Instance) -> None:
    """Gathers statistics of all tables and columns, and counts rows as Trino reads them."""
    link: Link = instance.handle
    for (table,) in link.text(file_text("tables.sql")):
        name = str(table)
        run(link, filled("analyze.sql", table=name))
        (read,) = link.ask(filled("count.sql", table=name))[0].to_pylist()
        if int(read) != (written := count(instance, name)):
            raise EngineError(
                f"table {name}: {written} rows lie in its files, and Trino reads {read}"
            )


def _directory(instance: Instance) -> Path:
    """The directory of our schema."""
    return Path(instance.address["lake"]) / str(instance.address["schema"])
