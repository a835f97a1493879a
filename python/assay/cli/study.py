"""`assay study`: carries out a study's runs, one after the other, and makes its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.options import EXIT_INVALID, AsJson, RunsDir
from assay.cli.output import complain, console, folded, say, say_json
from assay.model.errors import AssayError, RunFailedError, UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.record.studies import StudyRecord
    from assay.study.declared.expanding import Expanded, Wanted
    from assay.study.declared.reading import DeclaredStudy
    from assay.study.several import Outcome, RunOne, Terms
    from assay.study.variants import PlannedRun

EXAMPLES = """
\b
Examples:
  assay studies                                those that there are
  assay studies show tpch-profile              what would be run, and how long it takes
  assay study tpch-profile --quick
  assay study tpch-profile --only profile --engine duckdb --engine postgresql@16
  assay study ./my/study.toml --budget 30m
  assay studies new ./my                       a commented example to begin with

\b
Exit codes:
  0  done, or as much of it as the budget allows      2  runs failed, or it was stopped
  1  wrong usage, or a wrong file: nothing was run    3  answers of some run are wrong
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
    as_json: AsJson = False,
) -> None:
    """Carries out a study: all its runs, in turns, and the report that is made of them.

    Each run is an ordinary one. After an end before time, or with a larger budget, the same command
    goes on: no run that ended well is repeated.
    """
    from assay.record.places import runs_dir
    from assay.record.studies import read_study
    from assay.study.declared.expanding import Wanted, expanded
    from assay.study.declared.reading import find_declared

    declared = find_declared(which)
    wanted = Wanted(quick, tuple(engine or ()), workload)
    asked = expanded(declared, wanted)
    terms = _terms(asked, only, budget)
    place = runs_dir(runs)
    directory, failed = _carried_out(declared, asked, wanted, terms, place, again=again)
    record = read_study(directory)
    document = _document(record)
    if as_json:
        say_json(document)
    else:
        for line in summary_lines(document):
            say(line)
    _leave(document, failed=failed)


study.__doc__ = f"{study.__doc__}\n{EXAMPLES}"
