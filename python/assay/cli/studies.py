"""`assay studies`: what there is, what it would run, and how to write one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.options import AsJson, RunsDir
from assay.cli.output import say, say_json
from assay.cli.study import AllowHostChanges, Engines, Quick, Which, WorkloadInstead
from assay.model.units import duration_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.study.declared.expanding import Expanded
    from assay.study.declared.reading import DeclaredStudy

studies = typer.Typer(rich_markup_mode=None)


@studies.callback(invoke_without_command=True)
def list_all(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Lists the studies, tells all of one, begins a new one.

    \b
    Examples:
      assay studies
      assay studies show tpch-profile
      assay studies new ./my
      assay studies schema > study.schema.json
    """
    if context.invoked_subcommand is not None:
        return
    from assay.study.declared.reading import read_declared, study_files

    all_declared = [read_declared(file) for file in study_files().values()]
    if as_json:
        document = [
            {"name": declared.name, "title": declared.facts.title, "file": str(declared.file)}
            for declared in all_declared
        ]
        say_json(document)
        return
    for declared in all_declared:
        say(f"{declared.name:<18}{declared.facts.title}")


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
    """Tells what a study asks, what would be run in which order, and about how long it takes.

    Times are of earlier runs in the directory of runs where there are some alike, else guesses.

    \b
    Examples:
      assay studies show tpch-profile
      assay studies show ./my/study.toml --quick
    """
    from assay.record.places import runs_dir
    from assay.study.declared.expanding import Wanted, expanded
    from assay.study.declared.reading import find_declared
    from assay.study.preparing import considered_all

    declared = find_declared(which)
    forms = {}
    for name, is_quick in (("quick", True),) if quick else (("whole", False), ("quick", True)):
        wanted = Wanted(is_quick, tuple(engine or ()), workload, allow_host_changes)
        forms[name] = expanded(declared, wanted)
        considered_all(forms[name].study)
    document = _document(declared, forms, runs_dir(runs))
    if as_json:
        say_json(document)
        return
    for line in _lines(document):
        say(line)


@studies.command("figures")
def figures(*, as_json: AsJson = False) -> None:
    """Lists the kinds of figures that a study can ask for, with the options of each.

    \b
    Example:
      assay studies figures
    """
    from assay.analysis.figures.discovery import kinds

    figure_kinds = kinds().values()
    if as_json:
        say_json(
            [{"kind": k.name, "about": k.about, "options": dict(k.options)} for k in figure_kinds]
        )
        return
    for kind in figure_kinds:
        say(f"{kind.name:<14}{kind.about}")
        for option, meaning in kind.options.items():
            say(f"  {option}: {meaning}")


@studies.command("schema")
def schema() -> None:
    """Prints the JSON Schema of study files, for editors: `#:schema ./study.schema.json`.

    \b
    Example:
      assay studies schema > study.schema.json
    """
    from assay.study.declared.new import study_schema

    say_json(study_schema())


@studies.command("new")
def begin_study(
    folder: Annotated[Path, typer.Argument(help="Folder to be made.", metavar="FOLDER")],
) -> None:
    """Writes a commented example, which runs on DuckDB within a minute.

    \b
    Example:
      assay studies new ./my
      assay study ./my/study.toml
    """
    from assay.study.declared.new import new_study

    file = new_study(folder)[0]
    place = file if folder.is_absolute() else f"./{file}"
    say(f"{folder} has a study now: read {file}, then try")
    say(f"  assay studies show {place}")
    say(f"  assay study {place}")


def _document(declared: DeclaredStudy, forms: Mapping[str, Expanded], runs: Path) -> dict[str, Any]:
    """Return a study's question and, by form, the runs that it would make."""
    return {
        "name": declared.name,
        "title": declared.facts.title,
        "question": declared.question,
        "file": str(declared.file),
        "published": None if declared.published is None else str(declared.published),
        "figures": [figure.model_dump() for figure in declared.facts.figure],
        "forms": {name: _form(form, runs) for name, form in forms.items()},
    }


def _form(form: Expanded, runs: Path) -> dict[str, Any]:
    from assay.study.pace import Pace, expected_after

    pace = Pace(expected_after(runs))
    order = form.study.order()
    return {
        "budget_s": form.budget_s,
        "expected_s": pace.left_s(run.request for run in order),
        "without": dict(form.without),
        "parts": [
            {
                "name": part.name,
                "about": part.about,
                "repetitions": part.repetitions,
                "variants": [
                    {
                        "name": variant.name,
                        "levels": dict(variant.levels),
                        "expected_s": pace.run_s(variant.request),
                    }
                    for variant in part.variants
                ],
            }
            for part in form.study.parts
        ],
        "order": [
            {
                "round": turn.round,
                "part": turn.part,
                "variant": turn.variant,
                "stands_for": len(run),
            }
            for run in (planned.stands_for for planned in order)
            for turn in run[:1]
        ],
    }


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    yield document["title"]
    yield ""
    yield document["question"]
    (first, form), *others = document["forms"].items()
    yield ""
    yield from _parts(form)
    if document["figures"]:
        yield ""
        yield "figures"
        for figure in document["figures"]:
            yield f"  {figure['name']:<18}{figure['kind']:<14}{figure['title'] or ''}".rstrip()
    yield ""
    yield _total("--quick" if first == "quick" else "in all", form)
    for _, other in others:
        yield _total("--quick", other)
        for part, reason in other["without"].items():
            if part not in form["without"]:
                yield f"  left out: {part}: {reason}"


def _parts(form: Mapping[str, Any]) -> Iterator[str]:
    for part in form["parts"]:
        times = f"{part['repetitions']} x " if part["repetitions"] > 1 else ""
        yield f"{part['name']}: {times}{len(part['variants'])} runs"
        if part["about"]:
            yield f"  {part['about']}"
        width = max(len(variant["name"]) for variant in part["variants"])
        for variant in part["variants"]:
            yield f"    {variant['name']:<{width}}  about {duration_text(variant['expected_s'])}"
    for part, reason in form["without"].items():
        yield f"left out: {part}: {reason}"


def _total(name: str, form: Mapping[str, Any]) -> str:
    shared = sum(run["stands_for"] > 1 for run in form["order"])
    budget = "" if form["budget_s"] is None else f", budget {duration_text(form['budget_s'])}"
    twice = f" ({shared} of them for several parts)" if shared else ""
    expected = duration_text(form["expected_s"])
    return f"{name}: {len(form['order'])} runs{twice}, about {expected}{budget}"
