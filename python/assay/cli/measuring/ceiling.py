"""`assay ceiling`: measures the maximum speed of this host's disk, memory and cores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.shared.executing import end_by_verdict, executed
from assay.cli.shared.options import AsJson, RunsDir
from assay.cli.shared.output import console, say_result


def ceiling(
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer sizes and depths, shorter: half a minute.")
    ] = False,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            help="Measure the disk of this directory [default: where engines keep their data].",
            metavar="DIR",
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(help="Size of the file that is read [default: 4GB; --quick: 1GB]."),
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="How long each trial lasts [default: 250ms; --quick: 100ms].")
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(help="How often each trial is made [default: 5; --quick: 3].", min=1),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(help="What is tried [default: all].", metavar="disk,memory,core"),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the order of trials and of places.", min=0)
    ] = 1,
    runs: RunsDir = None,
    strict: Annotated[bool, typer.Option(help="An 'unknown' verdict also ends with 3.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measures what this host can do: requests a second of its disk by size, memory, cores.

    Only a file of its own is read and written; it has no name, and goes with the command however
    that ends. The record is one like any other: `assay show`, `report` and `export` know it.

    \b
    Examples:
      assay ceiling                           four minutes
      assay ceiling --quick                   half a minute
      assay ceiling --dir /data --size 16GB   the disk of another directory
      assay ceiling --only disk               no memory, no cores
      assay ceiling --json > ceiling.json
    """
    from assay.cli.shared.progress import Progress
    from assay.report.ceiling.terminal import ceiling_lines
    from assay.verbs.ceiling import ceiling as measured

    document = executed(
        lambda teller: measured(
            quick=quick,
            directory=directory,
            size=size,
            time=time,
            rounds=rounds,
            only=only,
            seed=seed,
            runs=runs,
            teller=teller,
        ),
        Progress(console()),
        as_json=as_json,
    )
    say_result(document, lambda: ceiling_lines(document), as_json=as_json)
    end_by_verdict(document["verdict"], "ceiling", strict=strict)
