"""`assay try`: carries out a finding's advice, and compares predicted and measured gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.shared.options import (
    EXIT_INVALID,
    Again,
    AllowChanges,
    AsJson,
    Budget,
    Repeat,
    RunsDir,
)
from assay.cli.shared.output import complain, say_result, width
from assay.model.errors import UsageError
from assay.verbs.shared.defaults import TRY_ROUNDS

if TYPE_CHECKING:
    from pathlib import Path


Keep = Annotated[
    bool,
    typer.Option(
        "--keep", help="With --allow-changes: keep the tested change instead of reverting it."
    ),
]

TriedServer = Annotated[
    str | None,
    typer.Option(
        help="Address of the running server, with or without password; the run's"
        " record contains no password."
    ),
]
TriedPrograms = Annotated[
    str | None,
    typer.Option(
        "--bin-dir",
        help="Directory of the server's programs, if the run used one; a record does not decide"
        " which programs are executed.",
        metavar="DIR",
    ),
]
TriedDrivers = Annotated[
    list[str] | None,
    typer.Option(
        "--driver",
        help="A JDBC driver, if the run used one: its jar, or its Maven coordinates; can be"
        " repeated.",
        metavar="FILE.jar|GROUP:ARTEFACT:VERSION",
    ),
]
TriedBefore = Annotated[
    bool,
    typer.Option("--history", help="Show how often the gain that findings predicted was right."),
]


def try_(
    which: Annotated[
        str | None,
        typer.Argument(help="'latest', an id or its beginning, or a path.", metavar="RUN"),
    ] = None,
    finding: Annotated[
        str | None,
        typer.Argument(
            help="A finding of the run: its key, such as spill:q18, its method, or its number.",
            metavar="FINDING",
        ),
    ] = None,
    *,
    repeat: Repeat = TRY_ROUNDS,
    budget: Budget = None,
    again: Again = False,
    dsn: TriedServer = None,
    bin_dir: TriedPrograms = None,
    driver: TriedDrivers = None,
    allow_changes: AllowChanges = False,
    keep: Keep = False,
    seed: Annotated[int, typer.Option(help="Seed of the order of runs.", min=0)] = 1,
    history: TriedBefore = False,
    runs: RunsDir = None,
    as_json: AsJson = False,
) -> None:
    """Makes the change that a finding advises, and compares the measured with the predicted gain.

    `assay try` alternates runs without and with the change. After an interruption, the same command
    continues.

    \b
    Examples:
      assay try latest spill:q18
      assay try latest 2 --repeat 5           the second finding of the run
      assay try latest missing-index:q3 --dsn ... --allow-changes
      assay try --history                     how often advice came true
    """
    if history:
        if which is not None or finding is not None:
            raise UsageError("--history lists the trials of all runs: remove RUN and FINDING")
        _say_history(runs, as_json=as_json)
        return
    if which is None or finding is None:
        raise UsageError("name both RUN and FINDING, as in: assay try latest spill:q18")
    from assay.cli.shared.watching import Watching
    from assay.report.terminal.try_ import trial_lines
    from assay.verbs.try_ import try_ as carried_out

    document = carried_out(
        which,
        finding,
        repeat=repeat,
        seed=seed,
        dsn=dsn,
        bin_dir=bin_dir,
        driver=driver or (),
        allow_changes=allow_changes,
        keep=keep,
        budget=budget,
        again=again,
        runs=runs,
        watcher=Watching(),
    )
    say_result(document, lambda: trial_lines(document, width()), as_json=as_json)
    if document["answers"]["verdict"] == "invalid":
        complain("answers are wrong with the change")
        raise typer.Exit(EXIT_INVALID)


def _say_history(runs: Path | None, *, as_json: bool) -> None:
    from assay.record.places import runs_dir
    from assay.report.terminal.try_ import calibration_lines
    from assay.verbs.try_ import history

    calibration = history(runs)
    place = str(runs_dir(runs))
    say_result(calibration, lambda: calibration_lines(calibration, place), as_json=as_json)
