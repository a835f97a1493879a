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
  0  done, as far as the budget allows      2  runs failed, or it was stopped
  1  wrong usage or file: nothing was run   3  some run is invalid
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
        help="Engine to use instead of the study's engines; can be repeated. Parts of other"
        " engines are"
        " left out.",
        metavar="NAME[@VERSION]",
    ),
]
WorkloadInstead = Annotated[
    str | None,
    typer.Option("--workload", help="Workload to use instead of the study's.", metavar="NAME"),
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
    budget: Budget = None,
    again: Again = False,
    runs: RunsDir = None,
    whole: Whole = False,
    as_json: AsJson = False,
) -> None:
    """Carries out a study: all its runs, in turns, and the report that is made of them.

    Each run is an ordinary one. After an interruption, or with a larger budget, the same
    command continues: no run that ended well is repeated.
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
