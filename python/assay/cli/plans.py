"""`assay plans`: is the plan that an engine chooses for a query the fastest that it has?"""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.options import EXIT_INVALID, Again, AsJson, RunsDir, Workload
from assay.cli.output import complain, console, say, say_json
from assay.cli.run_options import run_options, with_run_options
from assay.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from assay.record.reader import Run
    from assay.running.asked.options import RunOptions
    from assay.study.regret import Search, Terms
    from assay.study.several import Begun
    from assay.study.variants import Study

MOST, ROUNDS, CUT_OFF = 24, 5, 3.0
# How long the chosen plan is timed to know when others take too long.
CHOSEN_TIME = "1s"
EXAMPLES = """
\b
Examples:
  assay plans tpch --operation q09 --engine postgresql
  assay plans tpch -o q05 --scale 0.1 --most 40 --rounds 9
  assay plans ./my-queries -o slow --engine postgresql --set work_mem=64MB

\b
Exit codes:
  0  done           2  a run failed, or it was stopped
  1  wrong usage    3  some plan gave another answer than the chosen one
"""


Operation = Annotated[str, typer.Option("--operation", "-o", help="The query.", metavar="NAME")]
Most = Annotated[int, typer.Option(help="Plans at most, the chosen one among them.", min=2)]
CutOff = Annotated[
    float, typer.Option(help="A plan is cancelled that takes so many times as long as the chosen.")
]


@with_run_options(only=("engine", "dsn", "scale", "settings", "buffer", "seed"))
def plans(
    workload: Workload,
    *,
    operation: Operation,
    most: Most = MOST,
    rounds: Annotated[int, typer.Option(help="How often each is timed.", min=2)] = ROUNDS,
    cut_off: CutOff = CUT_OFF,
    again: Again = False,
    runs: RunsDir = None,
    as_json: AsJson = False,
    **told: Any,  # noqa: ANN401 - options of a run
) -> None:
    """Forces other plans of a query than the chosen one; tells what choosing otherwise is worth.

    Techniques are switched off one by one and in pairs, and tables joined in other orders. Plans of
    distinct shape are timed in turns, their answers compared; all data are in memory.
    """
    from assay.record.places import runs_dir
    from assay.report.study.build import build_study
    from assay.study.regret import Terms

    if cut_off <= 1:
        raise UsageError(f"--cut-off {cut_off:g}: above 1, or the chosen plan itself is cut off")
    options = run_options(workload, told | {"operation": operation, "min_time": CHOSEN_TIME})
    search, about = _search(options, Terms(most, rounds, cut_off))
    directory = _carried_out(search, about, runs_dir(runs), again=again)
    document = build_study(directory)
    if as_json:
        say_json(document)
    else:
        _show(document)
    if any(row[-1] == "another" for row in _rows(document)):
        complain("some plans gave another answer than the chosen one")
        raise typer.Exit(EXIT_INVALID)


plans.__doc__ = f"{cleandoc(plans.__doc__ or '')}\n{EXAMPLES}"


def _show(document: dict[str, Any]) -> None:
    from assay.report.study.terminal import article_lines
    from assay.report.terminal.summary import width_of

    for line in article_lines(document, width_of(console(stderr=False)), whole=True):
        say(line)


def _search(options: RunOptions, terms: Terms) -> tuple[Search, dict[str, Any]]:
    """What is searched, and by which facts the same search is known again."""
    from dataclasses import asdict

    from assay.running.asked.asking import considered
    from assay.running.asked.understanding import request_of
    from assay.study.regret import Search, Ways

    base = request_of(options, [])
    asked = considered(base)
    search = Search(base, Ways(asked), terms)
    about = {
        "made_by": "assay plans",
        "operation": search.ways.operation,
        "workloads": {asked.workload.facts.name: asked.workload.content_hash},
        **asdict(terms),
    }
    return search, about


def _rows(document: Mapping[str, Any]) -> list[list[Any]]:
    return [
        row
        for figure in document["figures"]
        for table in figure["tables"]
        if table["name"] == "plans"
        for row in table["rows"]
    ]


def _carried_out(search: Search, about: dict[str, Any], place: Path, *, again: bool) -> Path:
    """Carries out part after part, each told by the runs before it; the study's directory."""
    from assay.record.studies import STUDIES_DIR
    from assay.record.writer import new_run_id
    from assay.study.several import begun_in, growing

    known = None if again else growing(place / STUDIES_DIR, search.study({}), about)
    if known is None:
        name = new_run_id(f"plans-{search.ways.operation}", search.base.engine)
        known = place / STUDIES_DIR / name
    else:
        complain(f"going on with {known.name} (--again begins anew)")
    directory = known.absolute()
    while True:
        begun = begun_in(directory) if (directory / "study.toml").exists() else []
        runs = _runs(begun, place)
        study = search.study(runs)
        if all(part.name in runs for part in study.parts):
            return directory
        _carry(study, directory, place, about)


def _runs(begun: list[Begun], place: Path) -> dict[str, Run]:
    """Runs that ended well, by their parts."""
    from assay.record.layout import STATUS_COMPLETE
    from assay.record.reader import Run

    return {
        one.part: Run(place / one.id)
        for one in begun
        if one.status == STATUS_COMPLETE and one.id is not None
    }


def _carry(study: Study, directory: Path, place: Path, about: Mapping[str, Any]) -> None:
    from assay.cli.study_progress import studying
    from assay.study.several import carry_out

    with studying(directory, one_part=False) as progress:
        carry_out(study, directory, place, progress, about=about)
