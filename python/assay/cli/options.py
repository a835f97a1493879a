"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
EXIT_INVALID = 3


def exit_code(verdict: str, *, strict: bool) -> int:
    """The exit code that a verdict means."""
    if verdict == "invalid" or (strict and verdict == "unknown"):
        return EXIT_INVALID
    return 0
