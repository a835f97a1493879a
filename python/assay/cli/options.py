"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.model.errors import UsageError

AsJson = Annotated[
    bool, typer.Option("--json", help="One JSON document on stdout; the rest on stderr.")
]
RunsDir = Annotated[
    Path | None,
    typer.Option(
        "--runs", help="Directory of runs [default: $ASSAY_RUNS, else ./runs].", metavar="DIR"
    ),
]
WhichRun = Annotated[
    str, typer.Argument(help="'latest', an id or its beginning, or a path.", metavar="RUN")
]
Engine = Annotated[
    str | None,
    typer.Option(
        help="An engine (see `assay engines`) [default: duckdb].", metavar="NAME[@VERSION]"
    ),
]
Scale = Annotated[float | None, typer.Option(help="Scale of the data [default: the workload's].")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting of the engine; can be repeated.", metavar="KEY=VALUE"),
]
Buffer = Annotated[
    str | None, typer.Option(help="Size of the engine's own cache of data.", metavar="SIZE")
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


def budget_seconds(text: str | None) -> float | None:
    """Seconds of `--budget`; None without one.

    Raises:
        UsageError: If it is no time.
    """
    from assay.study.declared.facts import budget_s

    try:
        return budget_s(text)
    except ValueError as error:
        raise UsageError(f"--{error}") from error


def number_of_clients(text: str) -> int:
    """The number of clients of a run.

    Raises:
        UsageError: If it is none, or several, which are for `assay sweep`.
    """
    if "," in text:
        raise UsageError(
            f"--clients {text}: a run has one number of clients; assay sweep WORKLOAD --clients"
            f" {text} makes a run of each"
        )
    if not text.strip().isdecimal() or int(text) < 1:
        raise UsageError(f"--clients {text}: it is a whole number from 1 on")
    return int(text)
