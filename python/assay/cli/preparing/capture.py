"""`assay capture`: makes a workload folder from the statements of a server's clients."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.shared.options import AsJson
from assay.cli.shared.output import say_result

ServerEngine = Annotated[
    str | None,
    typer.Option(
        help="With --dsn: engine of the server [default: the engine that --dsn names].",
        metavar="NAME",
    ),
]
LoggedDatabase = Annotated[
    str | None,
    typer.Option(
        help="With --log: capture only statements of this database [default: the database"
        " with most statements].",
        metavar="NAME",
    ),
]


def capture(
    *,
    out: Annotated[Path, typer.Option(help="Folder to create for the workload.", metavar="DIR")],
    log: Annotated[
        list[Path] | None,
        typer.Option(
            help="File of the server's log, the oldest first; can be repeated.", metavar="FILE"
        ),
    ] = None,
    dsn: Annotated[
        str | None,
        typer.Option(
            help="A running server whose statement counters are read; nothing is changed.",
            metavar="ADDRESS",
        ),
    ] = None,
    engine: ServerEngine = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="With --log: capture only statements that began within this time after the first"
            " statement. With --dsn: how long to watch [default: 60s].",
            metavar="TIME",
        ),
    ] = None,
    database: LoggedDatabase = None,
    anonymise: Annotated[
        bool,
        typer.Option(
            "--anonymise", help="Replace all values by random ones of the same type and length."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Makes a workload from the statements of a server's clients: operations, values, start times.

    --log reads PostgreSQL's log in CSV or JSON format, or the slow or general log of MySQL and
    MariaDB. Logs contain transactions, values and times. --dsn reads pg_stat_statements or
    Performance Schema, which count the executions of each statement; only sampled sessions show
    values.

    \b
    Examples:
      assay capture --log postgresql.csv --out ./workload
      assay capture --log mysql-slow.log --time 60s --anonymise --out ./workload
      assay capture --dsn postgresql://user@host/shop --time 60s --out ./workload
      assay run ./workload --dsn ... --as-recorded
    """
    from assay.report.terminal.lists.capture import captured_lines
    from assay.verbs.preparing.capture import capture as made

    captured = made(
        out=out,
        log=log or [],
        dsn=dsn,
        engine=engine,
        time=time,
        database=database,
        anonymise=anonymise,
    )
    document = captured.facts()
    say_result(document, lambda: captured_lines(document), as_json=as_json)
