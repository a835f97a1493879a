"""Runs SQL statements on a user's database file, each in its own transaction.

As a program it reverts a change in a run's journal, for any process that executes the journal:
`python -m assay.running.server.file_sql FILE`, with engine and statements as JSON on its input. The
program retries while other processes have the file open, and on failure ends with status 1 and the
reason.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from assay.engines.contract import Embedded, EngineError, Place
from assay.engines.discovery import find_engine
from assay.engines.loading import Prepares
from assay.model.errors import AssayError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.engines.contract import Engine, Instance

# Seconds to wait for other processes that have the file open.
PATIENCE_S, LOOK_S = 20.0, 0.5


@contextmanager
def opened_file(
    name: str, file: Path, *, reads_only: bool, scratch: Path | None = None
) -> Iterator[tuple[Engine, Instance]]:
    """Open a database file, and close it at the end of the block.

    Args:
        name: Name of the engine.
        file: Path of the database file.
        reads_only: Whether the file must not be written.
        scratch: Directory for temporary files of the engine; None means the system's.

    Raises:
        UsageError: If the engine does not support opening files.
        EngineError: If the file cannot be opened.
    """
    engine = find_engine(name).engine()
    if not isinstance(engine, Embedded):
        raise UsageError(f"the engine {name} does not open database files")
    with TemporaryDirectory(dir=scratch) as made:
        place = Place(Path(made), Path(made), file, reads_only=reads_only)
        instance = engine.start(place, {})
        try:
            yield engine, instance
        finally:
            engine.stop(instance)


def run_on_file(
    name: str, file: Path, statements: Iterable[str], *, scratch: Path | None = None
) -> None:
    """Run SQL statements on a user's database file.

    Raises:
        UsageError: If the engine cannot run SQL for Assay.
        EngineError: If the engine refuses a statement, or cannot open the file.
    """
    with opened_file(name, file, reads_only=False, scratch=scratch) as (engine, instance):
        if not isinstance(engine, Prepares):
            raise UsageError(f"Assay cannot run SQL on {name}: make the change by hand")
        for sql in statements:
            engine.prepare(instance, sql)


def main(arguments: list[str]) -> int:
    """Run the SQL statements in a file as a program.

    Returns the exit status.
    """
    file, job = Path(arguments[0]), json.load(sys.stdin)
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            run_on_file(job["engine"], file, job["sql"])
        except EngineError as error:
            if time.monotonic() > deadline_s:
                return _complain(error)
            time.sleep(LOOK_S)
        except AssayError as error:
            return _complain(error)
        else:
            return 0


def _complain(error: AssayError) -> int:
    sys.stderr.write(" ".join(str(error).split()) + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
