"""`assay study`: carries out a study's runs, one after the other, and makes its report."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import AsJson, RunsDir, budget_seconds
from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.study.declared.expanding import Expanded
    from assay.study.several import Terms

EXAMPLES = """
\b
Examples:
  assay studies                      those that there are
  assay studies show tpch-profile    what would be run, and how long it takes
  assay study tpch-profile --quick
  assay study tpch-profile --only profile --engine duckdb
  assay study q1-index-scan --quick --allow-host-changes
  assay study ./my/study.toml --budget 30m
  assay studies new ./my             a commented example to begin with

\b
Exit codes:
  0  done, as far as the budget allows      2  runs failed, or it was stopped
  1  wrong usage or file: nothing was run   3  some run is invalid
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
    from assay.cli.several import carried_out, end, shown
    from assay.record.places import runs_dir
    from assay.study.declared.expanding import Wanted, expanded
    from assay.study.declared.reading import find_declared

    declared = find_declared(which)
    wanted = Wanted(quick, tuple(engine or ()), workload, allow_host_changes)
    asked = expanded(declared, wanted)
    terms = _terms(asked, only, budget)
    about = {"made_by": "assay study", "quick": quick}
    directory = carried_out(declared, asked, terms, runs_dir(runs), about, again=again)
    end(directory, shown(directory, whole=whole, as_json=as_json))


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
