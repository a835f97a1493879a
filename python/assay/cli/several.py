"""Carries out a study for any verb that makes one, and shows what came of it."""

from __future__ import annotations

import math
import re
import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

import typer

from assay.cli.options import EXIT_INVALID
from assay.cli.output import complain, console, say, say_json
from assay.engines.contract import EngineError
from assay.model.errors import RunFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from assay.cli.study_progress import StudyProgress
    from assay.running.telling import Teller
    from assay.study.declared.expanding import Expanded
    from assay.study.declared.reading import DeclaredStudy
    from assay.study.preparing import Prepared
    from assay.study.several import Outcome, RunOne, Terms
    from assay.study.variants import StudyRequest

    Lines = Callable[..., Iterable[str]]

NO_NAME = re.compile(r"[^\w.-]+")
# What is told to suffice is more than runs of before took.
BUDGET_MARGIN = 1.2


def carried_out(
    declared: DeclaredStudy,
    asked: Expanded,
    terms: Terms,
    place: Path,
    about: Mapping[str, Any],
    *,
    again: bool,
    all_engines: bool = False,
) -> Path:
    """Carries out what is not there yet; the study's directory.

    Args:
        declared: The study.
        asked: Its runs.
        terms: With what limits.
        place: Directory of runs.
        about: Who made it and of what, `made_by` above all: by these the same study is found.
        again: Make all runs anew, though some are there.
        all_engines: Without one of its engines the rest is worth nothing.

    Raises:
        EngineError: If an engine cannot be had and all are needed; nothing was run.
        UsageError: For runs that cannot be made; nothing was run.
    """
    from assay.cli.progress import Progress
    from assay.record.studies import STUDIES_DIR
    from assay.record.writer import new_run_id
    from assay.study.preparing import considered_all, prepared
    from assay.study.several import begun_in, remaining, same

    study = asked.study
    of_file = declared.file is not None
    known = considered_all(study, terms.wants, of_file=of_file)
    workloads = {one.workload.facts.name: one.workload for one in known}
    about = {
        **about,
        "study": declared.name,
        "workloads": {name: one.content_hash for name, one in workloads.items()},
    }
    found = None if again else next(same(place / STUDIES_DIR, study, about), None)
    to_do = remaining(study, begun_in(found) if found else [])
    order = len(study.order())
    if found is None:
        found = place / STUDIES_DIR / new_run_id("study", NO_NAME.sub("-", declared.name))
    elif to_do:
        complain(f"going on with {found.name}: {order - len(to_do)} of {order} runs are there")
    else:
        complain("all its runs are there, none is repeated (--again makes them anew)")
    directory = found.absolute()
    to_do = [run for run in to_do if terms.wants(run)]
    obtaining = Progress(console())
    try:
        ready = prepared(to_do, known, obtaining, of_file=of_file)
    finally:
        obtaining.close()
    if all_engines and ready.reasons:
        raise EngineError(" ".join(ready.reasons.values()))
    _keep_published(declared, directory)
    _make(asked, directory, terms, about, ready)
    return directory


def shown(
    directory: Path, lines: Lines | None = None, *, whole: bool, as_json: bool
) -> dict[str, Any]:
    """Shows a study; its document.

    Args:
        directory: Of the study.
        lines: Makes them of its document, a width, and `whole`; None: those of its article.
        whole: Every row and table.
        as_json: The document instead.
    """
    from assay.report.study.build import build_study
    from assay.report.study.terminal import article_lines
    from assay.report.terminal.summary import width_of

    document = build_study(directory)
    if as_json:
        say_json(document)
    else:
        width = width_of(console(stderr=False))
        for line in (lines or article_lines)(document, width, whole=whole):
            say(line)
    return document


def end(directory: Path, document: Mapping[str, Any]) -> None:
    """Ends the command as the study ended: with 2 if runs failed, with 3 if one is invalid."""
    from assay.record.studies import read_study

    if read_study(directory).failed():
        complain("some runs failed; the same command tries them again")
        raise typer.Exit(RunFailedError.exit_code)
    if document["verdict"] == "invalid":
        reason = next(one["reason"] for one in document["doubts"] if one["verdict"] == "invalid")
        complain(f"some runs are invalid: {reason}")
        raise typer.Exit(EXIT_INVALID)


def _make(
    asked: Expanded,
    directory: Path,
    terms: Terms,
    about: Mapping[str, Any],
    ready: Prepared,
) -> None:
    """Makes the runs that are left. What ends it early is told, with what is kept."""
    from assay.cli.study_progress import studying
    from assay.study.pace import expected_after
    from assay.study.several import Means, carry_out

    place = directory.parent.parent
    for name, reason in asked.without.items():
        complain(f"without part {name}: {reason}")
    with studying(directory, one_part=len(asked.study.parts) == 1) as progress:
        means = Means(ready.wrapping(judging(progress)), expected_after(place))
        outcome = carry_out(
            asked.study, directory, place, progress, terms=terms, about=about, means=means
        )
    _tell_left_out(outcome, terms)


def judging(progress: StudyProgress) -> RunOne:
    """Carries out a run as `assay run` does, with its checks and its report."""
    from assay.report.build import build
    from assay.study.carrying import carried_out

    def run(request: StudyRequest, runs: Path, teller: Teller) -> Path:
        directory = carried_out(request, runs, teller)
        teller.phase("checks and report")
        verdict = build(directory)["verdict"]
        if verdict == "invalid":
            progress.remark(f"invalid: assay show {directory.name}")
        return directory

    return run


def _keep_published(declared: DeclaredStudy, directory: Path) -> None:
    """The figures of others go with the record, so that its report can be made anywhere."""
    from assay.record.studies import PUBLISHED_FILE

    if declared.published is None:
        return
    try:
        directory.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(declared.published, directory / PUBLISHED_FILE)
    except OSError as error:
        raise RunFailedError(f"cannot write {directory / PUBLISHED_FILE}: {error}") from error


def _tell_left_out(outcome: Outcome, terms: Terms) -> None:
    """What was left out, and what would take it in."""
    if not outcome.left_out:
        return
    names = Counter(run.stands_for[0].part for run in outcome.left_out)
    told = ", ".join(f"{count} of {part}" for part, count in names.items())
    complain(f"left out: {len(outcome.left_out)} runs ({told})")
    if terms.budget_s is not None and outcome.needs_s is not None:
        minutes = math.ceil(outcome.needs_s * BUDGET_MARGIN / 60)
        complain(f"the same command with --budget {minutes}m goes on")
    elif terms.parts is not None:
        complain("the same command without --only goes on")
