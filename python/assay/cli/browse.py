"""`assay show`, `report`, `export`, `runs`: what was measured, looked at again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import AsJson, RunsDir, WhichRun, exit_code
from assay.cli.output import console, say, say_json


def show(
    which: WhichRun = "latest",
    *,
    runs: RunsDir = None,
    all_operations: Annotated[
        bool, typer.Option("--all", help="Show all operations, not only the longest.")
    ] = False,
    strict: Annotated[bool, typer.Option(help="An 'unknown' verdict also ends with 3.")] = False,
    as_json: AsJson = False,
) -> None:
    """Shows a run: is it valid, how fast, where did the time go.

    \b
    Examples:
      assay show latest
      assay show latest --all
      assay show 4c193c --json                the last six digits of an id do
      assay show 9d06f4 --all                 a study, with all its tables
    """
    from assay.record.reader import find_run
    from assay.report.build import build
    from assay.report.terminal import render
    from assay.study.places import runs_dir

    study = study_named(which, runs_dir(runs))
    if study is not None:
        _show_study(study, whole=all_operations, strict=strict, as_json=as_json)
        return
    document = build(find_run(which, runs_dir(runs)))
    if as_json:
        say_json(document)
    else:
        render(document, all_operations=all_operations, console=console(stderr=False))
    code = exit_code(document["verdict"], strict=strict)
    if code:
        raise typer.Exit(code)


def study_named(which: str, runs: Path) -> Path | None:
    """The directory of a study where one was named: by a path, or by an id that no run has.

    None where it is a run, or nothing at all: then it is for `find_run` to say so.
    """
    from assay.model.errors import RecordUnreadableError
    from assay.record.reader import find_run
    from assay.record.studies import STUDY_FILE, find_study

    if (Path(which) / STUDY_FILE).is_file() or Path(which).name == STUDY_FILE:
        return find_study(which, runs)
    if which == "latest":
        return None
    try:
        find_run(which, runs)
    except RecordUnreadableError:
        try:
            return find_study(which, runs)
        except RecordUnreadableError:
            return None
    return None


def _show_study(study: Path, *, whole: bool, strict: bool, as_json: bool) -> None:
    from assay.report.study.build import build_study
    from assay.report.study.terminal import article_lines
    from assay.report.terminal import width_of

    document = build_study(study)
    if as_json:
        say_json(document)
    else:
        for line in article_lines(document, width_of(console(stderr=False)), whole=whole):
            say(line)
    code = exit_code(document["verdict"], strict=strict)
    if code:
        raise typer.Exit(code)


def report(which: WhichRun = "latest", *, runs: RunsDir = None, as_json: AsJson = False) -> None:
    """Writes a run's report, or a study's article, anew and prints its path.

    It is one HTML file that needs no network. A study's article lies beside its study.toml, with
    the same as Markdown and JSON, and its tables as CSV.

    \b
    Examples:
      assay report latest
      assay report runs/studies/20261121T205000000Z-study-tpch-profile-abc123
    """
    from assay.model.errors import RunFailedError
    from assay.record.reader import find_run
    from assay.report.build import build
    from assay.report.study.build import build_study
    from assay.study.places import runs_dir

    place = runs_dir(runs)
    study = study_named(which, place)
    document = build(find_run(which, place)) if study is None else build_study(study)
    if document["report"] is None:
        raise RunFailedError(
            f"the report could not be written below {document['path']}: is it writable,"
            " and is there space left?"
        )
    if as_json:
        say_json(document)
    else:
        say(document["report"])


def export(
    which: WhichRun = "latest",
    *,
    to: Annotated[
        str,
        typer.Option(
            help="csv, json or parquet; of a profile folded, firefox, flamegraph or pprof."
        ),
    ] = "csv",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Directory to write into [default: ./<run id>-<format>]; of a profile the file"
            " [default: ./<run id>.<format's suffix>]."
        ),
    ] = None,
    operation: Annotated[
        str | None, typer.Option(help="Only the samples of this operation, such as q09.")
    ] = None,
    runs: RunsDir = None,
    as_json: AsJson = False,
) -> None:
    """Writes a run's tables as CSV, JSON or Parquet, or its CPU samples for tools that show them.

    firefox is opened by Firefox Profiler, pprof by `pprof` and speedscope, folded by speedscope and
    by scripts; flamegraph is an SVG for a browser.

    \b
    Examples:
      assay export latest --to csv
      assay export latest --to parquet --out /tmp/tables
      assay export latest --to flamegraph --operation q09 --out q09.svg
    """
    from assay.record.reader import Run, find_run
    from assay.report.exports import export as write
    from assay.study.places import runs_dir

    found = Run(find_run(which, runs_dir(runs)))
    written = write(found, to, out, operation)
    if as_json:
        say_json({"run": found.id, "files": [str(path) for path in written]})
    else:
        for path in written:
            say(str(path))


def runs(*, runs: RunsDir = None, as_json: AsJson = False) -> None:
    """Lists the runs of a directory, oldest first: verdict, what was run, total, id.

    \b
    Examples:
      assay runs
      assay runs --runs /data/runs --json
    """
    from assay.record.reader import list_runs
    from assay.report.build import stored
    from assay.report.terminal import run_line
    from assay.study.places import runs_dir

    listed = [(path, stored(path)) for path in list_runs(runs_dir(runs))]
    if as_json:
        say_json([told or {"run": path.name, "verdict": None} for path, told in listed])
        return
    for path, told in listed:
        say(run_line(told) if told else f"not judged yet: assay show {path.name}")
