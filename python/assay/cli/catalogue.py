"""`assay engines`, `assay workloads`, `assay --version`: what there is, and how to get more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import AsJson
from assay.cli.output import console, say, say_json

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.workloads.contract import Workload

engines = typer.Typer(rich_markup_mode=None)
workloads = typer.Typer(rich_markup_mode=None)


@engines.callback(invoke_without_command=True)
def list_engines(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Lists the engines, tells all of one, installs them.

    \b
    Examples:
      assay engines
      assay engines show postgresql
      assay engines install postgresql@18
    """
    if context.invoked_subcommand is not None:
        return
    from assay.engines.discovery import find_engines

    folders = find_engines()
    if as_json:
        say_json([folder.facts.model_dump() for folder in folders.values()])
        return
    room = max(len(name) for name in folders) + 2
    for folder in folders.values():
        say(f"{folder.facts.name:<{room}}{folder.facts.about}")


@engines.command("show")
def show_engine(
    name: Annotated[str, typer.Argument(help="Name of an engine.")], *, as_json: AsJson = False
) -> None:
    """Tells what is known of one engine: settings, versions, how it is measured.

    \b
    Example:
      assay engines show duckdb
    """
    from assay.engines.discovery import find_engine

    folder = find_engine(name)
    if as_json:
        document = {"techniques": folder.techniques().model_dump()}
        document |= {"knobs": folder.knobs().model_dump()}
        say_json(folder.facts.model_dump() | {"folder": str(folder.folder)} | document)
        return
    readme = folder.folder / "README.md"
    # The folder of one's own need not have one.
    if readme.is_file():
        say(readme.read_text(encoding="utf-8").rstrip())
    _show_techniques(folder)
    _show_durability(folder)


def _show_techniques(folder: EngineFolder) -> None:
    """Print the techniques that `--without` can switch off."""
    techniques = folder.techniques().techniques
    if not techniques:
        return
    width = max(map(len, techniques))
    say("\nTechniques that --without switches off:")
    for name, technique in techniques.items():
        say(f"  {name:<{width}}  {technique.says}")


def _show_knobs(folder: EngineFolder) -> None:
    """Print the knobs that `--vary` knows by a name of its own."""
    knobs = {f"{name} ({knob.setting})": knob.about for name, knob in folder.knobs().knobs.items()}
    if not knobs:
        return
    width = max(map(len, knobs))
    say("\nKnobs that are worth varying (--vary):")
    for name, about in knobs.items():
        say(f"  {name:<{width}}  {about}")


@engines.command("install")
def install_engine(
    name: Annotated[str, typer.Argument(help="Which one.", metavar="NAME[@VERSION]")],
    *,
    as_json: AsJson = False,
) -> None:
    """Obtains an engine, so that the first run does not have to.

    \b
    Examples:
      assay engines install postgresql
      assay engines install postgresql@15
    """
    from assay.cli.progress import Progress
    from assay.engines.contract import Wanted
    from assay.engines.discovery import find_engine
    from assay.running.host.places import engines_dir
    from assay.running.telling import telling

    asked, _, wanted = name.partition("@")
    folder = find_engine(asked)
    progress = Progress(console())
    try:
        product = folder.engine().obtain(Wanted(engines_dir(), wanted or None), telling(progress))
    finally:
        progress.close()
    if as_json:
        say_json({"engine": asked, "version": product.version, "home": str(product.home or "")})
        return
    where = "a library of Assay" if product.home is None else str(product.home)
    say(f"{folder.facts.title} {product.version}: {where}")


def _show_durability(folder: EngineFolder) -> None:
    """Print the levels that `--durability` takes."""
    levels = folder.facts.durability
    if not levels:
        return
    say("\nLevels of --durability; full where none is asked for:")
    for name, level in levels.items():
        settings = ", ".join(f"{key} = {value}" for key, value in level.settings.items())
        behind = f" ({settings})" if level.about and settings else ""
        say(f"  {name:<8}  {level.about or settings}{behind}")


@workloads.callback(invoke_without_command=True)
def list_workloads(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Lists the workloads, tells all of one, begins a new one.

    \b
    Examples:
      assay workloads
      assay workloads show tpch
      assay workloads new ./my-queries
    """
    if context.invoked_subcommand is not None:
        return
    from assay.workloads.discovery import find_workloads

    folders = find_workloads()
    if as_json:
        say_json([{"name": w.facts.name, "about": w.facts.about} for w in folders.values()])
        return
    room = max(len(name) for name in folders) + 2
    for workload in folders.values():
        say(f"{workload.facts.name:<{room}}{workload.facts.about}")


@workloads.command("show")
def show_workload(
    name: Annotated[str, typer.Argument(help="Name or folder of a workload.")],
    *,
    operation: Annotated[
        str | None,
        typer.Option(help="Tell the parts that it can be asked without.", metavar="NAME"),
    ] = None,
    engine: Annotated[
        str, typer.Option(help="With --operation: whose text it is.", metavar="NAME")
    ] = "duckdb",
    as_json: AsJson = False,
) -> None:
    """Tells the operations of one workload, or the parts of one operation.

    \b
    Examples:
      assay workloads show tpch
      assay workloads show tpch --operation q03
    """
    from assay.workloads.discovery import find_workload

    workload = find_workload(name)
    if operation is not None:
        _show_parts(workload, operation, engine, as_json=as_json)
        return
    facts = workload.facts
    if as_json:
        say_json(facts.model_dump())
        return
    say(f"{facts.title}: {facts.about}" if facts.about else facts.title)
    width = max(len(operation_name) for operation_name in facts.operations)
    for operation_name, operation_facts in facts.operations.items():
        say(f"  {operation_name:<{width}}  {operation_facts.title}".rstrip())
    if facts.legal:
        say(facts.legal)


def _show_parts(workload: Workload, operation: str, engine: str, *, as_json: bool) -> None:
    """Tells what `assay run --remove` can take out of an operation."""
    from assay.engines.discovery import find_engine

    only = workload.only([operation])
    dialects = find_engine(engine).facts.dialects
    parts = only.parts(operation, dialects, only.facts.scale_default)
    if as_json:
        say_json([{"name": part.name, "words": part.description} for part in parts])
        return
    text = only.statement(operation, dialects, only.facts.scale_default).text
    say(f"{text.strip()}\n")
    width = max((len(part.name) for part in parts), default=0)
    for part in parts:
        say(f"  {part.name:<{width}}  {part.description}")
    say(f"assay run {workload.facts.name} --operation {operation} --remove NAME asks it without")


@workloads.command("new")
def begin_workload(
    folder: Annotated[Path, typer.Argument(help="Folder to be made.", metavar="FOLDER")],
) -> None:
    """Writes a commented example: a workload of your own, in SQL files.

    \b
    Example:
      assay workloads new ./my-queries
      assay run ./my-queries
    """
    from assay.workloads.new import new_workload

    new_workload(folder)
    place = str(folder) if folder.is_absolute() else f"./{folder}"
    say(f"{folder} is a workload now: read {folder / 'workload.toml'}, then try")
    say(f"  assay run {place}")


def version(*, as_json: bool) -> None:
    """Our version, with JSON also those of the engines' adapters."""
    from assay.version import VERSION

    if not as_json:
        say(f"assay {VERSION}")
        return
    from assay.engines.discovery import find_engines

    adapters = {name: folder.facts.version_pinned for name, folder in find_engines().items()}
    say_json({"assay": VERSION, "engines": adapters})
