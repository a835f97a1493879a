"""`assay compare`: two engines, versions or settings, and what explains the difference."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated, Any

import typer

from assay.cli.options import (
    Again,
    AsJson,
    Budget,
    Repeat,
    RunsDir,
    Whole,
    Workload,
)
from assay.cli.run_options import run_keys, with_run_options
from assay.cli.scale_name import SCALE, check_scale_name
from assay.running.asked.declaring import Group

EXAMPLES = """
\b
Examples:
  assay compare tpcc --engine dolt@1.83.2 --engine dolt@2.2.0
  assay compare tpcc --engine mysql --engine mariadb --clients 8 --repeat 7
  assay compare tpch --engine postgresql --vary work_mem=4MB,64MB
  assay compare tpcc --engine postgresql --b enable_indexscan=off
  assay compare tpcc --engine postgresql --b prepare=drop-index.sql
  assay compare tpcc --vary durability=full,none --unequal-durability
  assay compare tpcc --engine postgresql --alike      what is noise here

\b
Exit codes:
  0  done, as far as the budget allows    2  runs failed, or it was stopped
  1  wrong usage: nothing was run         3  some run is invalid
"""

Engines = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        help="The engine of the first side, and once more that of the second; given once, it is of"
        " both.",
        metavar="NAME[@VERSION]",
        rich_help_panel=Group.ASKED,
    ),
]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        help="An option of `assay run`, or else a setting of the engine, and its value of each"
        " side; can be repeated.",
        metavar="KEY=V1,V2",
        rich_help_panel=Group.ASKED,
    ),
]
First = Annotated[
    list[str] | None,
    typer.Option(
        "--a",
        help="The same of the first side alone.",
        metavar="KEY=VALUE",
        rich_help_panel=Group.ASKED,
    ),
]
Second = Annotated[
    list[str] | None,
    typer.Option(
        "--b",
        help="The same of the second side alone.",
        metavar="KEY=VALUE",
        rich_help_panel=Group.ASKED,
    ),
]
Alike = Annotated[
    bool,
    typer.Option(
        "--alike",
        help="Both sides are the same: what differs is noise.",
        rich_help_panel=Group.ASKED,
    ),
]
UnequalDurability = Annotated[
    bool,
    typer.Option(
        "--unequal-durability",
        help="Compare although commits survive less on one side.",
        rich_help_panel=Group.ASKED,
    ),
]
Profile = Annotated[
    bool,
    typer.Option(
        "--profile/--no-profile",
        help="Take CPU samples of the engine: by them the difference is explained.",
        rich_help_panel=Group.OBSERVATION,
    ),
]


@with_run_options("rate")
def compare(
    context: typer.Context,
    workload: Workload,
    *,
    engine: Engines = None,
    vary: Vary = None,
    a: First = None,
    b: Second = None,
    alike: Alike = False,
    unequal_durability: UnequalDurability = False,
    repeat: Repeat = 5,
    profile: Profile = True,
    budget: Budget = None,
    again: Again = False,
    runs: RunsDir = None,
    whole: Whole = False,
    as_json: AsJson = False,
    **options: Any,  # noqa: ANN401 - options of `assay run`
) -> None:
    """Compares two engines, versions or settings: what differs, and what explains how much of it.

    Runs of both sides are made in turns. Ratios have intervals; the difference of a transaction is
    split over its statements, and put down to plans, columns, reads, the optimiser, kinds of work
    and waits. Each run is an ordinary one; after an end before time the same command goes on.
    """
    from assay.cli.several import end, shown
    from assay.cli.watching import Watching
    from assay.report.terminal.compare import compare_lines
    from assay.verbs.compare import compare as made

    check_scale_name(context.meta[SCALE], workload)
    study = made(
        workload,
        engine=engine or (),
        vary=vary or (),
        a=a or (),
        b=b or (),
        alike=alike,
        unequal_durability=unequal_durability,
        repeat=repeat,
        budget=budget,
        again=again,
        runs=runs,
        watcher=Watching(),
        **run_keys(context, options) | {"profile": profile},
    )
    end(shown(study, compare_lines, whole=whole, as_json=as_json))


compare.__doc__ = f"{cleandoc(compare.__doc__ or '')}\n{EXAMPLES}"
