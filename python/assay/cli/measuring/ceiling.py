"""`assay ceiling`: measures the maximum speed of this host's disk, memory and cores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.shared.executing import end_by_verdict, executed
from assay.cli.shared.options import AsJson, RunsDir
from assay.cli.shared.output import console, say_result
from assay.verbs.shared.defaults import COUNT_MAX

QuickTrials = Annotated[
    bool,
    typer.Option(
        "--quick",
        help="Measure fewer request sizes and queue depths in shorter"
        " trials, in about half a minute.",
    ),
]
MeasuredParts = Annotated[
    str | None,
    typer.Option(
        help="Parts of the host to measure: disk, memory, core [default: all].",
        metavar="disk,memory,core",
    ),
]
StrictVerdict = Annotated[
    bool, typer.Option(help="End with exit code 3 also if the verdict is unknown.")
]


def ceiling(
    *,
    quick: QuickTrials = False,
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
        str | None, typer.Option(help="Duration of each trial [default: 250ms; --quick: 100ms].")
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            help="Number of repetitions of each trial [default: 5; --quick: 3].",
            min=1,
            max=COUNT_MAX,
        ),
    ] = None,
    only: MeasuredParts = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the order of trials and of file positions.", min=0)
    ] = 1,
    runs: RunsDir = None,
    strict: StrictVerdict = False,
    as_json: AsJson = False,
) -> None:
    """Measures the maximum speed of this host's disk (by request size), memory and cores.

    `assay ceiling` reads and writes only an unnamed temporary file, which disappears at the end.
    `assay show`, `report` and `export` work with the record of `assay ceiling`.

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
