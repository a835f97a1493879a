"""`assay capture`: makes a workload folder from the statements of a server's clients."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.shared.options import AsJson
from assay.cli.shared.output import say_result


def capture(
    *,
    out: Annotated[Path, typer.Option(help="Folder of the workload; it is made.", metavar="DIR")],
    log: Annotated[
        list[Path] | None,
        typer.Option(
            help="File of the server's log, the oldest first; can be repeated.", metavar="FILE"
        ),
    ] = None,
    dsn: Annotated[
        str | None,
        typer.Option(
            help="A running server: its counters of statements are watched, nothing is changed.",
            metavar="ADDRESS",
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(help="With --dsn: its engine [default: what --dsn names].", metavar="NAME"),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="With --log: only this much time from the first statement. With --dsn: how long"
            " to watch [default: 60s].",
            metavar="TIME",
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            help="With --log: only statements in this database [default: the one with most].",
            metavar="NAME",
        ),
    ] = None,
    anonymise: Annotated[
        bool,
        typer.Option(
            "--anonymise", help="Replace all values by random ones of the same type and length."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Makes a workload of what a server's clients did: operations, values, and when each began.

    --log reads PostgreSQL's log as CSV or JSON, and the slow and the general log of MySQL and
    MariaDB: transactions, values and times are known. --dsn watches pg_stat_statements or
    Performance Schema: how often statements ran is known, and values as far as sessions show them.

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
