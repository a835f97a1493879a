"""`assay answers`: the rows of one's own queries as the reference of later runs."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.shared.options import AsJson, RunsDir, Workload
from assay.cli.shared.output import say_result
from assay.cli.shared.run_options import run_keys, with_run_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.verbs.answers import Answers

EXAMPLES = """
\b
Examples:
  assay answers ./queries --dsn postgresql://me@localhost/shop
  assay answers ./queries --dsn postgresql://me@localhost/shop --keep
  assay answers ./queries --dsn ... -o slow --keep
"""
Keep = Annotated[
    bool,
    typer.Option("--keep", help="Keep the rows in the folder, in the place of those kept before."),
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
    """Takes the rows that queries return now as their answers; `assay run` compares with them.

    Each operation is played twice. Without --keep nothing is written into the folder: it shows what
    would be kept, and whether that differs from what is.
    """
    from assay.cli.shared.output import console
    from assay.cli.shared.progress import Progress
    from assay.verbs.answers import answers as taken

    progress = Progress(console())
    try:
        told = taken(workload, keep=keep, runs=runs, teller=progress, **run_keys(context, options))
    finally:
        progress.close()
    say_result(_document(told), lambda: _lines(told), as_json=as_json)


answers.__doc__ = f"{cleandoc(answers.__doc__ or '')}\n{EXAMPLES}"


def _lines(told: Answers) -> Iterator[str]:
    width = max(len("operation"), *(len(row.operation) for row in told.operations))
    yield f"{'operation':<{width}}  {'rows':>9}  {'digest':<16}  compared with what is kept"
    for row in told.operations:
        if row.answer is None:
            yield f"{row.operation:<{width}}  {'-':>9}  {'-':<16}  not kept: {row.why_not}"
        else:
            rows, digest = row.answer.rows, row.answer.digest
            yield f"{row.operation:<{width}}  {rows:>9,}  {digest:<16}  {row.change}"
    yield ""
    if told.kept:
        yield f"Kept in {told.folder}: the next `assay run` compares with these rows."
    elif any(row.answer is not None for row in told.operations):
        yield f"Nothing was written. --keep keeps these rows in {told.folder}."
    else:
        yield "No operation has an answer that can be kept."


def _document(told: Answers) -> dict[str, Any]:
    from dataclasses import asdict

    rows = [asdict(row) for row in told.operations]
    for row in rows:
        # The rows themselves are in the folder, or in the record of the run.
        del row["text"]
    return {"run": told.run, "folder": told.folder, "kept": told.kept, "operations": rows}
