"""`assay study`: makes all runs of a study in alternating order, and a report from them."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated

import typer

from assay.cli.shared.options import Again, AsJson, Budget, RunsDir, Whole

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
  0  all runs ended, or the budget is used up
  1  wrong usage, or an error in the study's file: nothing was run
  2  a run failed, or the command was stopped
  3  a run is invalid
"""

Which = Annotated[
    str,
    typer.Argument(help="A study (see `assay studies`), or a study's file.", metavar="STUDY"),
]
Quick = Annotated[bool, typer.Option("--quick", help="Run the short form that the study declares.")]
Engines = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        help="Engine to use instead of the study's engines; can be repeated. The study's parts"
        " for other engines are not run.",
        metavar="NAME[@VERSION]",
    ),
]
WorkloadInstead = Annotated[
    str | None,
    typer.Option(
        "--workload", help="Workload to use instead of the study's workload.", metavar="NAME"
    ),
]

AllowHostChanges = Annotated[
    bool,
    typer.Option(
        "--allow-host-changes",
        help="Include parts that change settings of the whole host, such as read-ahead or"
        " dropping caches for a cold state. Assay restores the settings after each run.",
    ),
]


def study(
    which: Which,
    *,
    quick: Quick = False,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Run only this part of the study; can be repeated.", metavar="PART"),
    ] = None,
    engine: Engines = None,
    workload: WorkloadInstead = None,
    allow_host_changes: AllowHostChanges = False,
    budget: Budget = None,
    again: Again = False,
    runs: RunsDir = None,
    whole: Whole = False,
    as_json: AsJson = False,
) -> None:
    """Executes all runs of a study in alternating order, and writes the study's report.

    After an interruption, or with a larger budget, the same command continues the study without
    repeating successful runs.
    """
    from assay.cli.shared.several import end, shown
    from assay.cli.shared.watching import Watching
    from assay.verbs.study import study as carried_out

    made = carried_out(
        which,
        quick=quick,
        only=only or (),
        engine=engine or (),
        workload=workload,
        allow_host_changes=allow_host_changes,
        budget=budget,
        again=again,
        runs=runs,
        watcher=Watching(),
    )
    end(shown(made, whole=whole, as_json=as_json))


study.__doc__ = f"{cleandoc(study.__doc__ or '')}\n{EXAMPLES}"
