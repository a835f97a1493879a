"""`assay studies`: lists studies, shows one, writes a new one."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.measuring.study import AllowHostChanges, Engines, Quick, Which, WorkloadInstead
from assay.cli.shared.options import AsJson, RunsDir, calls_subcommand
from assay.cli.shared.output import say, say_json, say_result

studies = typer.Typer(rich_markup_mode=None, add_completion=False)


@studies.callback(invoke_without_command=True)
def list_all(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Lists the studies; subcommands show a study or create one.

    \b
    Examples:
      assay studies
      assay studies show tpch-profile
      assay studies new ./my
      assay studies schema > study.schema.json
    """
    if calls_subcommand(context):
        return
    from assay.verbs.preparing.studies import studies as there_are

    document = [
        {"name": declared.name, "title": declared.facts.title, "file": str(declared.file)}
        for declared in there_are()
    ]
    lines = (f"{study['name']:<18}{study['title']}" for study in document)
    say_result(document, lambda: lines, as_json=as_json)


@studies.command("show")
def show(
    which: Which,
    *,
    quick: Quick = False,
    engine: Engines = None,
    workload: WorkloadInstead = None,
    allow_host_changes: AllowHostChanges = False,
    runs: RunsDir = None,
    as_json: AsJson = False,
) -> None:
    """Shows a study's question, its runs in order, and their expected duration.

    The expected duration comes from similar earlier runs in the directory of runs; without such
    runs, it is a guess.

    \b
    Examples:
      assay studies show tpch-profile
      assay studies show ./my/study.toml --quick
    """
    from assay.report.terminal.lists.studies import plan_lines
    from assay.verbs.preparing.studies import show as planned

    plan = planned(
        which,
        quick=quick,
        engine=engine or (),
        workload=workload,
        allow_host_changes=allow_host_changes,
        runs=runs,
    )
    say_result(plan, lambda: plan_lines(plan), as_json=as_json)


@studies.command("figures")
def figures(*, as_json: AsJson = False) -> None:
    """Lists the kinds of figures that a study can request, with the options of each kind.

    \b
    Example:
      assay studies figures
    """
    from assay.report.terminal.lists.studies import kind_lines
    from assay.verbs.preparing.studies import figures as kinds

    document = [
        {"kind": kind.name, "about": kind.about, "options": dict(kind.options)} for kind in kinds()
    ]
    say_result(document, lambda: kind_lines(document), as_json=as_json)


@studies.command("schema")
def schema() -> None:
    """Prints the JSON Schema of study files, with which editors check and complete a study's file.

    \b
    Example:
      assay studies schema > study.schema.json
    """
    from assay.verbs.preparing.studies import schema as schema_of_studies

    say_json(schema_of_studies())


@studies.command("new")
def begin_study(
    folder: Annotated[Path, typer.Argument(help="Folder to create.", metavar="FOLDER")],
) -> None:
    """Writes a commented example study, which runs on DuckDB within a minute.

    \b
    Example:
      assay studies new ./my
      assay study ./my/study.toml
    """
    from assay.verbs.preparing.studies import new

    file = new(folder)
    place = shlex.quote(str(file) if folder.is_absolute() else f"./{file}")
    say(f"{folder} has a study now: read {file}, then try")
    say(f"  assay studies show {place}")
    say(f"  assay study {place}")
