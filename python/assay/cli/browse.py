"""`assay show`, `report`, `export`, `runs`: what was measured, looked at again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from assay.cli.options import AsJson, RunsDir, Strict, WhichRun, Whole, exit_code
from assay.cli.output import console, say, say_json

if TYPE_CHECKING:
    from assay.report.documents.ceiling import CeilingDocument
    from assay.report.documents.run import RunDocument


def show(
    which: WhichRun = "latest",
    *,
    runs: RunsDir = None,
    whole: Whole = False,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Shows a run: is it valid, how fast, where did the time go. Of a study: its article.

    Of what `assay ceiling` measured: its tables.

    \b
    Examples:
      assay show latest
      assay show latest --all
      assay show 4c193c --json                the last six digits of an id do
    """
    from assay.record.layout import KIND_CEILING
    from assay.record.places import runs_dir
    from assay.report.kept import current

    directory, is_study = _found_directory(which, runs_dir(runs))
    if is_study:
        _show_study(directory, whole=whole, as_json=as_json)
        return
    document = current(directory) or _built(directory)
    if as_json:
        say_json(document)
    elif document.get("kind") == KIND_CEILING:
        from assay.report.ceiling.terminal import ceiling_lines

        for line in ceiling_lines(cast("CeilingDocument", document)):
            say(line)
    else:
        from assay.report.terminal.summary import render

        run = cast("RunDocument", document)
        render(run, all_operations=whole, console=console(stderr=False))
    code = exit_code(document["verdict"], strict=strict)
    if code:
        raise typer.Exit(code)


def report(which: WhichRun = "latest", *, runs: RunsDir = None, as_json: AsJson = False) -> None:
    """Writes a run's or a study's report anew and prints its path: an HTML file for any browser.

    \b
    Examples:
      assay report latest
      assay report runs/studies/20261121T205821976Z-study-tpch-profile-a8e490
    """
    from assay.model.errors import RunFailedError
    from assay.record.places import runs_dir
    from assay.report.build import build
    from assay.report.study.build import build_study

    directory, is_study = _found_directory(which, runs_dir(runs))
    document = build_study(directory) if is_study else build(directory)
    if document["report"] is None:
        raise RunFailedError(
            f"the report could not be written below {document['path']}: is it writable,"
            " and is there space left?"
        )
    if as_json:
        say_json(document)
    else:
        say(document["report"])


def _built(directory: Path) -> dict[str, Any]:
    """The document, judged and made anew."""
    from assay.report.build import build

    return build(directory)


def _found_directory(which: str, place: Path) -> tuple[Path, bool]:
    """The directory of a run, or of a study, and whether it is one."""
    from assay.model.errors import RecordUnreadableError
    from assay.record.reader import find_run
    from assay.record.studies import find_study

    try:
        return find_run(which, place), False
    except RecordUnreadableError as error:
        try:
            return find_study(which, place), True
        except RecordUnreadableError:
            raise error from None


def _show_study(directory: Path, *, whole: bool, as_json: bool) -> None:
    from assay.report.study.build import build_study
    from assay.report.study.terminal import article_lines
    from assay.report.terminal.summary import width_of

    document = build_study(directory)
    if as_json:
        say_json(document)
        return
    for line in article_lines(document, width_of(console(stderr=False)), whole=whole):
        say(line)


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
    from assay.record.places import runs_dir
    from assay.record.reader import Run, find_run
    from assay.report.exports import export as write

    run = Run(find_run(which, runs_dir(runs)))
    written = write(run, to, out, operation)
    if as_json:
        say_json({"run": run.id, "files": [str(path) for path in written]})
    else:
        for path in written:
            say(str(path))


def runs(*, runs: RunsDir = None, as_json: AsJson = False) -> None:
    """Lists the runs of a directory, oldest first: state, what was run on what, total, id.

    The state is the verdict; of a run that ended early `stopped`, `failed` or `unended`, and
    `unjudged` of one that no report was made of since Assay changed.

    \b
    Examples:
      assay runs
      assay runs --runs /data/runs --json
    """
    from assay.record.places import runs_dir
    from assay.record.reader import list_runs
    from assay.report.kept import stored
    from assay.report.terminal.runs import listed_line, unjudged_row

    listed = [(path, stored(path)) for path in list_runs(runs_dir(runs))]
    if as_json:
        say_json([document or unjudged_row(path) for path, document in listed])
        return
    for path, document in listed:
        say(listed_line(path, document))
