"""`assay why`: finds out what bounds a workload's operations, and says it in words."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from hashlib import sha256
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.options import AsJson, Budget, RunsDir, Whole, Workload, budget_seconds, given
from assay.cli.output import complain, console, say, say_json
from assay.cli.run_options import run_options, with_run_options
from assay.model.errors import RecordUnreadableError, RunFailedError
from assay.record.layout import KIND_CEILING, STATUS_COMPLETE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.record.reader import Run
    from assay.running.asked.request import RunRequest
    from assay.study.variants import Study
    from assay.study.why import Depth

MADE_BY = "assay why"
OF_RUNS = (
    "operation",
    "engine",
    "bin_dir",
    "scale",
    "settings",
    "buffer",
    "prepare",
    "state",
    "min_time",
    "allow_host_changes",
    "seed",
)
EXAMPLES = """
\b
Examples:
  assay why tpch --operation q01 --engine postgresql --scale 1 --state cold
  assay why tpch --operation q13 --engine duckdb --quick --budget 10m
  assay why ./my-queries --engine postgresql --state cold --allow-host-changes

\b
Exit codes:
  0  done, as far as the budget allows      2  failed, or stopped
  1  wrong usage: nothing was run
"""


@with_run_options(only=OF_RUNS, defaults={"min_time": "2s"})
def why(
    context: typer.Context,
    workload: Workload,
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer levels and rounds: wider intervals.")
    ] = False,
    repeat: Annotated[
        int | None, typer.Option(help="Rounds [default: 5, with --quick 3].", min=1)
    ] = None,
    budget: Budget = None,
    runs: RunsDir = None,
    whole: Whole = False,
    as_json: AsJson = False,
    **told: Any,  # noqa: ANN401 - options of a run
) -> None:
    """Finds out what bounds a workload's operations, by making resources scarce in turns.

    A first run tells what an operation takes. Then a study makes the CPU and the disk scarce at
    several levels, leaves the computation away, and says how the time answers. After an end before
    time, the same command goes on where it was.
    """
    from assay.record.places import runs_dir
    from assay.running.asked.understanding import request_of

    options = run_options(workload, told)
    directory = _carried_out(
        request_of(options, given(context)), runs_dir(runs), _depth(repeat, quick=quick), budget
    )
    _show(directory, whole=whole, as_json=as_json)


why.__doc__ = f"{cleandoc(why.__doc__ or '')}\n{EXAMPLES}"


def _show(directory: Path, *, whole: bool, as_json: bool) -> None:
    from assay.record.studies import read_study
    from assay.report.sections.why import why_document
    from assay.report.study.build import build_study
    from assay.report.terminal.bound import why_lines
    from assay.report.terminal.summary import width_of

    article = build_study(directory)
    document = why_document(read_study(directory), article["report"])
    if as_json:
        say_json(document)
        return
    for line in why_lines(document, width_of(console(stderr=False)), whole=whole):
        say(line)


def _depth(repeat: int | None, *, quick: bool) -> Depth:
    from assay.study.why import QUICK, Depth

    depth = QUICK if quick else Depth()
    return depth if repeat is None else replace(depth, repetitions=repeat)


def _carried_out(base: RunRequest, place: Path, depth: Depth, budget: str | None) -> Path:
    """Makes the first run and the study, as far as they are not there; the study's directory.

    Raises:
        AssayError: If the first run fails, or nothing can be made scarce here.
        KeyboardInterrupt: On Ctrl-C; the runs so far are kept, as is told.
    """
    from assay.record.reader import took_s
    from assay.record.studies import STUDIES_DIR
    from assay.record.writer import new_run_id
    from assay.study.ceiling.newest import begin_with, newest_look
    from assay.study.several import unfinished
    from assay.study.why import why_study

    budget_s = budget_seconds(budget)
    asked = sha256(json.dumps([base.facts(), asdict(depth)], sort_keys=True).encode()).hexdigest()
    pilot = _pilot_before(place, asked) or _pilot(base, place)
    look = newest_look(place, pilot)
    study = why_study(base, pilot, depth, look)
    about = {"made_by": MADE_BY, "asked": asked, "pilot": pilot.id}
    directory = unfinished(place / STUDIES_DIR, study, about)
    if directory is None:
        workload = pilot.facts["workload"]["name"]
        directory = place / STUDIES_DIR / new_run_id(f"why-{workload}", base.engine)
        if look is not None and any(part.kind == KIND_CEILING for part in study.parts):
            begin_with(directory, study, about, look)
    else:
        complain(f"going on with {directory.name}")
    for what, reason in study.without.items():
        complain(f"not made: {what}: {reason}")
    left_s = None if budget_s is None else max(0.0, budget_s - (took_s(pilot) or 0.0))
    _made(study, directory.absolute(), place, about, left_s)
    return directory.absolute()


def _pilot_before(place: Path, asked: str) -> Run | None:
    """The first run of the newest study that was asked for alike, if it is not done yet."""
    from assay.record.reader import Run
    from assay.record.studies import STUDY_FILE, list_studies, read_study_file

    for directory in reversed(list_studies(place)):
        try:
            told = read_study_file(directory / STUDY_FILE)
            about = told.get("about", {})
            if about.get("made_by") != MADE_BY or about.get("asked") != asked:
                continue
            return Run(place / about["pilot"]) if told["status"] != STATUS_COMPLETE else None
        except (RecordUnreadableError, KeyError):
            continue
    return None


def _pilot(base: RunRequest, place: Path) -> Run:
    """The run as it is, once: what it takes of each resource decides what is made scarce."""
    from assay.cli.progress import Progress
    from assay.record.reader import Run
    from assay.running.execute import execute

    progress = Progress(console())
    try:
        return Run(execute(base, place, progress))
    finally:
        progress.close()


def _nothing_made(all_left_out: bool, directory: Path) -> str:
    if all_left_out:
        return "the budget left no time for a run: the same command with a larger --budget goes on"
    return f"no run of the study ended well: assay show {directory}"


def _made(
    study: Study, directory: Path, place: Path, about: Mapping[str, Any], left_s: float | None
) -> None:
    """Makes the runs that are left. What ends it early is told, with what is kept."""
    from assay.cli.study_progress import studying
    from assay.study.pace import expected_after
    from assay.study.several import Means, Terms, carry_out
    from assay.study.why import SCARCE

    with studying(directory) as progress:
        outcome = carry_out(
            study,
            directory,
            place,
            progress,
            terms=Terms(left_s, goes_on=True),
            about=about,
            means=Means(expected=expected_after(place)),
        )
    if outcome.left_out:
        complain(f"the budget leaves out {len(outcome.left_out)} of {len(study.order())} runs")
    if not any(one.part == SCARCE for one in outcome.complete):
        raise RunFailedError(_nothing_made(len(outcome.left_out) == len(study.order()), directory))
