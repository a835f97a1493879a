"""`assay engines`: lists engines, shows one, installs one."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.shared.options import AsJson, calls_subcommand
from assay.cli.shared.output import console, say_result

engines = typer.Typer(rich_markup_mode=None, add_completion=False)


@engines.callback(invoke_without_command=True)
def list_engines(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Lists the engines; subcommands show or install one engine.

    \b
    Examples:
      assay engines
      assay engines show postgresql
      assay engines install postgresql@18
    """
    if calls_subcommand(context):
        return
    from assay.report.terminal.lists.catalogue import listed_lines
    from assay.verbs.preparing.engines import engines as there_are

    facts = there_are()
    about = {engine.name: engine.about for engine in facts}
    document = [engine.model_dump() for engine in facts]
    say_result(document, lambda: listed_lines(about), as_json=as_json)


@engines.command("show")
def show_engine(
    name: Annotated[str, typer.Argument(help="Name of an engine.", metavar="ENGINE")],
    *,
    as_json: AsJson = False,
) -> None:
    """Shows the settings and versions of one engine, and how Assay measures it.

    \b
    Example:
      assay engines show duckdb
    """
    from assay.report.terminal.lists.catalogue import engine_lines
    from assay.verbs.preparing.engines import show

    shown = show(name)
    say_result(shown.document, lambda: engine_lines(shown.document, shown.readme), as_json=as_json)


@engines.command("install")
def install_engine(
    name: Annotated[
        str,
        typer.Argument(
            help="Engine with or without version, such as postgresql@18.", metavar="NAME[@VERSION]"
        ),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Downloads and installs an engine.

    Without this command, the first run with the engine does so.

    \b
    Examples:
      assay engines install postgresql
      assay engines install postgresql@15
    """
    from assay.cli.shared.progress import Progress
    from assay.verbs.preparing.engines import install

    progress = Progress(console())
    try:
        engine = install(name, progress)
    finally:
        progress.close()
    where = "a library of Assay" if engine.home is None else str(engine.home)
    line = f"{engine.title} {engine.version}: {where}"
    say_result(engine.document, lambda: [line], as_json=as_json)
