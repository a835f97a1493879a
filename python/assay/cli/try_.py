"""`assay try`: carries out what a finding advises, and says whether its prediction came true."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.options import EXIT_INVALID, AsJson, RunsDir
from assay.cli.output import complain, console, say, say_json
from assay.model.errors import UsageError
from assay.record.layout import STATUS_COMPLETE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.model.finding import Finding
    from assay.record.reader import Run
    from assay.study.several import Begun
    from assay.study.variants import Study

REPETITIONS = 3


def try_(
    which: Annotated[
        str | None,
        typer.Argument(help="'latest', an id or its beginning, or a path.", metavar="RUN"),
    ] = None,
    finding: Annotated[
        str | None,
        typer.Argument(
            help="A finding by its key, such as spill:q18, its method, or its number.",
            metavar="FINDING",
        ),
    ] = None,
    *,
    repeat: Annotated[
        int, typer.Option(help="Rounds: in each, a run as it was and one with the change.", min=1)
    ] = REPETITIONS,
    dsn: Annotated[
        str | None,
        typer.Option(help="The running server once more: its password is in no record."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the order of runs.", min=0)] = 1,
    history: Annotated[
        bool, typer.Option("--history", help="How often predictions came true so far.")
    ] = False,
    runs: RunsDir = None,
    as_json: AsJson = False,
) -> None:
    """Carries out a finding's advice and compares the gain with what was predicted.

    The run is repeated as it was and with the change, in turns; each is an ordinary run. After an
    end before time, the same command goes on where it was.

    \b
    Examples:
      assay try latest spill:q18
      assay try latest 2 --repeat 5           the second finding of the run
      assay try --history                     how often advice came true
    """
    from assay.analysis.summary import summarise
    from assay.record.places import runs_dir
    from assay.record.reader import find_workload_run
    from assay.study.trying import chosen

    place = runs_dir(runs)
    if history:
        if which is not None or finding is not None:
            raise UsageError("--history is of all that was tried; leave RUN and FINDING out")
        _history(place, as_json=as_json)
        return
    if which is None or finding is None:
        raise UsageError("say which RUN and which FINDING, as in: assay try latest spill:q18")
    run = find_workload_run(which, place)
    about = chosen(summarise(run).findings, finding)
    document = tried(run, about, place, repeat, seed, dsn)
    if as_json:
        say_json(document)
    else:
        _show(document)
    if document["answers"]["verdict"] == "invalid":
        complain("answers are wrong with the change")
        raise typer.Exit(EXIT_INVALID)


def _history(place: Path, *, as_json: bool) -> None:
    from assay.analysis.try_.calibration import calibrate
    from assay.record.predictions import read_predictions
    from assay.report.terminal.trial import calibration_lines

    told = calibrate(read_predictions(place)).facts()
    if as_json:
        say_json(told)
        return
    for line in calibration_lines(told, str(place)):
        say(line)


def _show(document: dict[str, Any]) -> None:
    from assay.report.terminal.summary import width_of
    from assay.report.terminal.trial import trial_lines

    shown = console(stderr=False)
    for line in trial_lines(document, width_of(shown)):
        say(line)


def tried(
    run: Run, finding: Finding, place: Path, repeat: int, seed: int, dsn: str | None = None
) -> dict[str, Any]:
    """Carries out the study and notes what became of the prediction; its document.

    Raises:
        AssayError: If the advice cannot be carried out, or what ended the study early.
        KeyboardInterrupt: On Ctrl-C; the runs so far are kept, as is told.
    """
    from assay.analysis.try_.calibration import calibrate
    from assay.record.predictions import append_prediction, read_predictions
    from assay.record.studies import STUDIES_DIR
    from assay.record.writer import new_run_id
    from assay.report.sections.trial import prediction, trial_document
    from assay.study.several import unfinished
    from assay.study.trying import trial_study

    study = trial_study(run, finding, repeat, seed, dsn)
    about = {"made_by": "assay try", "run": run.id, "finding": finding.key}
    directory = unfinished(place / STUDIES_DIR, study, about)
    if directory is None:
        study_id = new_run_id(f"try-{run.facts['workload']['name']}", run.facts["engine"]["name"])
        directory = place / STUDIES_DIR / study_id
    begun = _carried_out(study, directory.absolute(), place, about, run)
    before, after = (variant.name for variant in study.parts[0].variants)
    rounds = list(zip(_runs(begun, before, place), _runs(begun, after, place), strict=True))
    document = trial_document(run, finding, after, rounds) | {"study": str(directory.absolute())}
    now = datetime.now(tz=UTC).isoformat(timespec="seconds")
    append_prediction(place, prediction(document, now) | {"study": directory.name})
    return document | {"calibration": calibrate(read_predictions(place)).facts()}


def _carried_out(
    study: Study, directory: Path, place: Path, about: dict[str, str], run: Run
) -> Sequence[Begun]:
    """Carries out what is not there yet; what ends it early is told, with what is kept."""
    from assay.cli.study_progress import studying
    from assay.record.reader import took_s
    from assay.study.several import Means, begun_in, carry_out

    if directory.exists():
        kept = sum(one.status == STATUS_COMPLETE for one in begun_in(directory))
        of = len(study.order())
        complain(f"going on with {directory.name}: {kept} of {of} runs are there")
    with studying(directory) as progress:
        means = Means(expected=lambda _: took_s(run))
        return carry_out(study, directory, place, progress, about=about, means=means).complete


def _runs(begun: Sequence[Begun], variant: str, place: Path) -> list[Run]:
    """The runs of a variant, by their rounds."""
    from assay.record.reader import Run

    ids = {one.round: one.id for one in begun if one.variant == variant and one.id is not None}
    return [Run(place / ids[number]) for number in sorted(ids)]
