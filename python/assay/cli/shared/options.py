"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from assay.model.errors import UsageError
from assay.running.asked.declaring import Group
from assay.verbs.shared.defaults import COUNT_MAX


def option(group: Group, help_text: str, shown: str | None = None, *flags: str, **more: Any) -> Any:  # noqa: ANN401 - Typer's own
    """Return an option for a command with grouped help, like the declared options of a run.

    Args:
        group: Group in which the help lists it.
        help_text: Sentence about the option.
        shown: Placeholder of a value; None means its type.
        flags: Names on the command line; empty means the parameter's name.
        more: Further arguments for Typer, such as `min`.
    """
    return typer.Option(*flags, help=help_text, metavar=shown, rich_help_panel=group, **more)


AsJson = Annotated[
    bool,
    option(
        Group.OUTPUT,
        "Print one JSON document to stdout, and all other output to stderr.",
        None,
        "--json",
    ),
]
RunsDir = Annotated[
    Path | None,
    option(Group.OUTPUT, "Directory of runs [default: $ASSAY_RUNS, else ./runs].", "DIR", "--runs"),
]
Whole = Annotated[
    bool, option(Group.OUTPUT, "Show everything: all rows, tables and remarks.", None, "--all")
]
Page = Annotated[
    bool,
    option(
        Group.OUTPUT,
        "Write the report as an HTML page; `assay report` can also write it later.",
        None,
        "--page/--no-page",
    ),
]
Strict = Annotated[
    bool, option(Group.OUTPUT, "End with exit code 3 also if the verdict is unknown.")
]
Again = Annotated[
    bool, option(Group.RUNS, "Make all runs again, even if earlier ones exist.", None, "--again")
]
Budget = Annotated[
    str | None,
    option(Group.RUNS, "Time budget: no run is started that would exceed this time.", "30m"),
]
AllowChanges = Annotated[
    bool,
    option(
        Group.SERVER,
        "Allow changes to tables of the server in --dsn; Assay reverts these changes at the end.",
        None,
        "--allow-changes",
    ),
]
Repeat = Annotated[
    int,
    option(
        Group.RUNS,
        "Number of rounds; each round has one run of every variant.",
        min=1,
        max=COUNT_MAX,
    ),
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


def calls_subcommand(context: typer.Context) -> bool:
    """Return True if the command line calls a subcommand of a group.

    Raises:
        UsageError: If --json is before the subcommand, where it would have no effect.
    """
    subcommand = context.invoked_subcommand
    if subcommand is None:
        return False
    source = context.get_parameter_source("as_json")
    if source is not None and source.name == "COMMANDLINE":
        raise UsageError(
            f"--json before {subcommand} has no effect: write it after the whole command, as in: "
            f"assay {context.info_name} {subcommand} --json"
        )
    return True


def exit_code(verdict: str, *, strict: bool) -> int:
    """Return the exit code for a verdict."""
    if verdict == "invalid" or (strict and verdict == "unknown"):
        return EXIT_INVALID
    return 0
