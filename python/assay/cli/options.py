"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.running.asked.declaring import Group

AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="One JSON document on stdout; the rest on stderr.",
        rich_help_panel=Group.OUTPUT,
    ),
]
RunsDir = Annotated[
    Path | None,
    typer.Option(
        "--runs",
        help="Directory of runs [default: $ASSAY_RUNS, else ./runs].",
        metavar="DIR",
        rich_help_panel=Group.OUTPUT,
    ),
]
Whole = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Show everything: all rows, tables and remarks.",
        rich_help_panel=Group.OUTPUT,
    ),
]
Page = Annotated[
    bool,
    typer.Option(
        "--page/--no-page",
        help="Write the report's page; `assay report` does it later.",
        rich_help_panel=Group.OUTPUT,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(help="An 'unknown' verdict also ends with 3.", rich_help_panel=Group.OUTPUT),
]
Again = Annotated[
    bool,
    typer.Option(
        "--again",
        help="Make all runs anew, though some are there.",
        rich_help_panel=Group.RUNS,
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        help="No run is begun that would end after so much time.",
        metavar="30m",
        rich_help_panel=Group.RUNS,
    ),
]
Repeat = Annotated[
    int,
    typer.Option(help="Rounds: in each, a run of every kind.", min=1, rich_help_panel=Group.RUNS),
]
Workload = Annotated[
    str,
    typer.Argument(
        help="A workload (see `assay workloads`), or a folder of .sql or .rq files.",
        metavar="WORKLOAD",
    ),
]
WhichRun = Annotated[
    str, typer.Argument(help="'latest', an id or its beginning, or a path.", metavar="RUN")
]
EXIT_INVALID = 3


def exit_code(verdict: str, *, strict: bool) -> int:
    """The exit code that a verdict means."""
    if verdict == "invalid" or (strict and verdict == "unknown"):
        return EXIT_INVALID
    return 0


def given(context: typer.Context) -> list[str]:
    """Options that stand on the command line: files and the environment are defaults."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]
