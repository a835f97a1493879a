"""`assay answers`: keeps the rows of a user's queries as the reference for later runs."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated, Any

import typer

from assay.cli.shared.executing import executed
from assay.cli.shared.options import AsJson, RunsDir, Workload
from assay.cli.shared.output import console, say_result
from assay.cli.shared.run_options import run_keys, with_run_options

EXAMPLES = """
\b
Examples:
  assay answers ./queries --dsn postgresql://me@localhost/shop
  assay answers ./queries --dsn postgresql://me@localhost/shop --keep
  assay answers ./queries --dsn ... -o slow --keep
"""
Keep = Annotated[
    bool,
    typer.Option("--keep", help="Store the rows in the folder, replacing earlier ones."),
]


@with_run_options(
    only=("engine", "dsn", "scale", "settings", "operation", "driver", "language", "timeout")
)
def answers(
    context: typer.Context,
    workload: Workload,
    *,
    keep: Keep = False,
    runs: RunsDir = None,
    as_json: AsJson = False,
    **options: Any,  # noqa: ANN401 - options of a run
) -> None:
    """Stores the rows that queries return now as the expected answers for later runs.

    Each operation is executed twice. Without --keep the command writes nothing into the folder, but
    shows the rows and whether they differ from the stored answers.
    """
    from assay.cli.shared.progress import Progress
    from assay.report.terminal.lists.answers import answers_lines
    from assay.verbs.answers import answers as taken

    keys = run_keys(context, options)
    made = executed(
        lambda teller: taken(workload, keep=keep, runs=runs, teller=teller, **keys),
        Progress(console()),
        as_json=as_json,
    )
    say_result(made.document, lambda: answers_lines(made.document), as_json=as_json)


answers.__doc__ = f"{cleandoc(answers.__doc__ or '')}\n{EXAMPLES}"
