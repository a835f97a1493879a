"""`assay workloads`: lists workloads, shows one, writes a new one."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.shared.options import AsJson, calls_subcommand
from assay.cli.shared.output import say, say_result

workloads = typer.Typer(rich_markup_mode=None, add_completion=False)


@workloads.callback(invoke_without_command=True)
def list_workloads(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Lists the workloads; subcommands show a workload or create one.

    \b
    Examples:
      assay workloads
      assay workloads show tpch
      assay workloads new ./my-queries
    """
    if calls_subcommand(context):
        return
    from assay.report.terminal.lists.catalogue import listed_lines
    from assay.verbs.preparing.workloads import workloads as there_are

    about = {facts.name: facts.about for facts in there_are()}
    document = [{"name": name, "about": text} for name, text in about.items()]
    say_result(document, lambda: listed_lines(about), as_json=as_json)


@workloads.command("show")
def show_workload(
    name: Annotated[str, typer.Argument(help="Name or folder of a workload.", metavar="WORKLOAD")],
    *,
    operation: Annotated[
        str | None,
        typer.Option(help="Show the parts of this operation that can be removed.", metavar="NAME"),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            help="With --operation: engine in whose SQL dialect the query text is shown.",
            metavar="NAME",
        ),
    ] = "duckdb",
    as_json: AsJson = False,
) -> None:
    """Shows the operations of one workload, or the parts of one operation.

    \b
    Examples:
      assay workloads show tpch
      assay workloads show tpch --operation q03
    """
    from assay.report.terminal.lists.catalogue import workload_lines
    from assay.verbs.preparing.workloads import show

    if operation is not None:
        _show_parts(name, operation, engine, as_json=as_json)
        return
    document = show(name).model_dump()
    say_result(document, lambda: workload_lines(document), as_json=as_json)


def _show_parts(name: str, operation: str, engine: str, *, as_json: bool) -> None:
    from assay.report.terminal.lists.catalogue import part_lines
    from assay.verbs.preparing.workloads import parts

    shown = parts(name, operation, engine)
    descriptions = {part.name: part.description for part in shown.parts}
    say_result(
        [asdict(part) for part in shown.parts],
        lambda: part_lines(shown.text, descriptions, shown.workload, operation),
        as_json=as_json,
    )


@workloads.command("new")
def begin_workload(
    folder: Annotated[Path, typer.Argument(help="Folder to create.", metavar="FOLDER")],
) -> None:
    """Writes a commented example of a workload in SQL files, for you to edit.

    \b
    Example:
      assay workloads new ./my-queries
      assay run ./my-queries
    """
    from assay.verbs.preparing.workloads import new

    new(folder)
    place = shlex.quote(str(folder) if folder.is_absolute() else f"./{folder}")
    say(f"{folder} is a workload now: read {folder / 'workload.toml'}, then try")
    say(f"  assay run {place}")
