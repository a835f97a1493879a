"""`assay capture`: makes a workload folder from the statements of a server's clients."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.running.asked.parsing import above_zero, duration_s
from assay.running.capturing import Captured, capture_counted, capture_logs

if TYPE_CHECKING:
    from collections.abc import Sequence

# Default duration of watching counters.
TIME = "60s"


def capture(
    *,
    out: Path | str,
    log: Path | str | Sequence[Path | str] = (),
    dsn: str | None = None,
    engine: str | None = None,
    time: str | None = None,
    database: str | None = None,
    anonymise: bool = False,
) -> Captured:
    """Makes a workload folder from a server's log, or from its statement counters.

    Args:
        out: The folder to write. The folder must not exist yet.
        log: Files of one log, oldest first.
        dsn: A running server, whose statement counters are watched.
        engine: With `dsn`: the server's engine, if the DSN does not name it.
        time: With `log`: keep only statements that began within this time after the first one, such
            as `60s`. With `dsn`: how long the counters are watched. Default: 60 s.
        database: With `log`: keep only statements of this database. Default: the one with most
            statements.
        anonymise: Replace all values by others of the same type and length.

    Raises:
        UsageError: If neither a log nor a server is given, or no statement can be repeated.
        EngineError: If the log is damaged, or the server cannot be reached.
    """
    files = [Path(log)] if isinstance(log, str | Path) else [Path(file) for file in log]
    if bool(files) == (dsn is not None):
        raise UsageError(
            "the source of the capture is missing: add either --log FILE or --dsn ADDRESS"
        )
    if dsn is not None:
        if database is not None:
            raise UsageError(
                "--database applies to a log; --dsn itself names the database: remove --database"
            )
        seconds = above_zero("--time", duration_s("--time", time or TIME))
        return capture_counted(dsn, Path(out), engine=engine, time_s=seconds, anonymise=anonymise)
    if engine is not None:
        raise UsageError(
            "--engine applies to a server; Assay recognises the format of a log: remove --engine"
        )
    time_s = None if time is None else above_zero("--time", duration_s("--time", time))
    return capture_logs(files, Path(out), time_s=time_s, database=database, anonymise=anonymise)
