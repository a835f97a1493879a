"""Runs statements on a database file of somebody's, each in a transaction of its own.

As a program it takes back a change that is in a run's journal, whoever carries the journal out:
`python -m assay.running.server.file_sql FILE`, with engine and statements as JSON on its input.
It tries again while others have the file open, and ends with status 1 and the reason.
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

# Whoever has the file open at this moment is waited for.
PATIENCE_S, LOOK_S = 20.0, 0.5


@contextmanager
def opened_file(
    name: str, file: Path, *, reads_only: bool, scratch: Path | None = None
) -> Iterator[tuple[Engine, Instance]]:
    """Opens a database file, and closes it when the block is left.

    Args:
        name: Name of the engine.
        file: The database file.
        reads_only: Whether nothing may be written into it.
        scratch: Where the engine sorts what it has no memory for; None means where temporary files
            are.

    Raises:
        UsageError: If the engine opens no files.
        EngineError: If the file cannot be opened.
    """
    engine = find_engine(name).engine()
    if not isinstance(engine, Embedded):
        raise UsageError(f"{name} opens no database file")
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
    """Runs statements on a database file; arguments as `opened_file` has them.

    Raises:
        UsageError: If the engine runs no SQL of ours.
        EngineError: If the engine refuses a statement, or cannot open the file.
    """
    with opened_file(name, file, reads_only=False, scratch=scratch) as (engine, instance):
        if not isinstance(engine, Prepares):
            raise UsageError(f"Assay cannot run SQL on {name}: make the change by hand")
        for sql in statements:
            engine.prepare(instance, sql)


def main(arguments: list[str]) -> int:
    """Argument: the file. Returns the exit status."""
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
