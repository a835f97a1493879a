"""`assay study`: carries out a study's runs, one after the other, and makes its report."""

from __future__ import annotations

import math
import re
import shutil
from collections import Counter
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.options import EXIT_INVALID, AsJson, RunsDir, budget_seconds
from assay.cli.output import complain, console, say, say_json
from assay.model.errors import RunFailedError, UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.cli.study_progress import StudyProgress
    from assay.study.declared.expanding import Expanded
    from assay.study.declared.reading import DeclaredStudy
    from assay.study.preparing import Prepared
    from assay.study.several import Outcome, RunOne, Terms
    from assay.study.telling import Teller
    from assay.study.variants import StudyRequest

NO_NAME = re.compile(r"[^\w.-]+")
# What is told to suffice is more than runs of before took.
BUDGET_MARGIN = 1.2

EXAMPLES = """
\b
Examples:
  assay studies                                those that there are
  assay studies show tpch-profile              what would be run, and how long it takes
  assay study tpch-profile --quick
  assay study tpch-profile --only profile --engine duckdb --engine postgresql@16
  assay study q1-index-scan --quick --allow-host-changes
  assay study ./my/study.toml --budget 30m
  assay studies new ./my                       a commented example to begin with

\b
Exit codes:
  0  done, or as much of it as the budget allows      2  runs failed, or it was stopped
  1  wrong usage, or a wrong file: nothing was run    3  some run is invalid
"""

Which = Annotated[
    str,
    typer.Argument(help="A study (see `assay studies`), or a study's file.", metavar="STUDY"),
]
Quick = Annotated[bool, typer.Option("--quick", help="The short form, as the study has it.")]
Engines = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        help="In the place of the study's engines; can be repeated. Parts of other engines are"
        " left out.",
        metavar="NAME[@VERSION]",
    ),
]
WorkloadInstead = Annotated[
    str | None,
    typer.Option("--workload", help="In the place of the study's workload.", metavar="NAME"),
]

AllowHostChanges = Annotated[
    bool,
    typer.Option(
        "--allow-host-changes",
        help="Take in parts that change what others on the host notice, such as read-ahead, and put"
        " it back after each run; and drop the host's caches where the state is cold.",
    ),
]


def study(
    which: Which,
    *,
    quick: Quick = False,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only this part of it; can be repeated.", metavar="PART"),
    ] = None,
    engine: Engines = None,
    workload: WorkloadInstead = None,
    allow_host_changes: AllowHostChanges = False,
    budget: Annotated[
        str | None,
        typer.Option(
            help="No run is begun that would end after so much time [default: the study's].",
            metavar="30m",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Make all its runs anew, though some are there.")
    ] = False,
    runs: RunsDir = None,
    whole: Annotated[
        bool, typer.Option("--all", help="Show every row and table of the article.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Carries out a study: all its runs, in turns, and the report that is made of them.

    Each run is an ordinary one. After an end before time, or with a larger budget, the same command
    goes on: no run that ended well is repeated.
    """
    from assay.record.places import runs_dir
    from assay.record.studies import read_study
    from assay.report.study.build import build_study
    from assay.report.study.terminal import article_lines
    from assay.report.terminal import width_of
    from assay.study.declared.expanding import Wanted, expanded
    from assay.study.declared.reading import find_declared

    declared = find_declared(which)
    wanted = Wanted(quick, tuple(engine or ()), workload, allow_host_changes)
    asked = expanded(declared, wanted)
    terms = _terms(asked, only, budget)
    directory = _carried_out(declared, asked, terms, runs_dir(runs), quick=quick, again=again)
    record, document = read_study(directory), build_study(directory)
    if as_json:
        say_json(document)
    else:
        for line in article_lines(document, width_of(console(stderr=False)), whole=whole):
            say(line)
    if record.failed():
        complain("some runs failed; the same command tries them again")
        raise typer.Exit(RunFailedError.exit_code)
    if document["verdict"] == "invalid":
        reason = next(one["reason"] for one in document["doubts"] if one["verdict"] == "invalid")
        complain(f"some runs are invalid: {reason}")
        raise typer.Exit(EXIT_INVALID)


study.__doc__ = f"{cleandoc(study.__doc__ or '')}\n{EXAMPLES}"


def _terms(asked: Expanded, only: Sequence[str] | None, budget: str | None) -> Terms:
    """With which limits it is carried out."""
    from assay.study.several import Terms

    names = [part.name for part in asked.study.parts]
    for part in only or ():
        if part in asked.without:
            raise UsageError(f"--only {part}: {asked.without[part]}")
        if part not in names:
            raise UsageError(f"--only {part}: there is no such part; {suggestion(part, names)}")
    seconds = asked.budget_s if budget is None else budget_seconds(budget)
    return Terms(seconds, frozenset(only) if only else None, goes_on=True)


def _carried_out(
    declared: DeclaredStudy, asked: Expanded, terms: Terms, place: Path, *, quick: bool, again: bool
) -> Path:
    """Carries out what is not there yet; the study's directory."""
    from assay.cli.progress import Progress
    from assay.record.studies import STUDIES_DIR
    from assay.record.writer import new_run_id
    from assay.study.preparing import considered_all, prepared
    from assay.study.several import begun_in, remaining, same

    study = asked.study
    known = considered_all(study, terms.wants)
    workloads = {one.workload.facts.name: one.workload for one in known}
    about = {
        "made_by": "assay study",
        "study": declared.name,
        "quick": quick,
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
        ready = prepared(to_do, known, obtaining)
    finally:
        obtaining.close()
    _keep_published(declared, directory)
    _make(asked, directory, terms, about, ready)
    return directory


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
        means = Means(ready.wrapping(_judging(progress)), expected_after(place))
        outcome = carry_out(
            asked.study, directory, place, progress, terms=terms, about=about, means=means
        )
    _tell_left_out(outcome, terms)


def _judging(progress: StudyProgress) -> RunOne:
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
