"""`assay compare`: compares two engines, versions or settings, and explains the difference."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated, Any

import typer

from assay.cli.shared.options import Again, AsJson, Budget, Repeat, RunsDir, Whole, Workload, option
from assay.cli.shared.run_options import run_keys, with_run_options
from assay.cli.shared.scale_name import SCALE, check_scale_name
from assay.running.asked.declaring import Group
from assay.verbs.shared.defaults import COMPARE_ROUNDS

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
    option(
        Group.ASKED,
        "The engine of the first side, and once more that of the second; given once, it is of"
        " both.",
        "NAME[@VERSION]",
    ),
]
Vary = Annotated[
    list[str] | None,
    option(
        Group.ASKED,
        "An option of `assay run`, or else a setting of the engine, and its value of each"
        " side; can be repeated.",
        "KEY=V1,V2",
    ),
]
First = Annotated[
    list[str] | None, option(Group.ASKED, "The same of the first side alone.", "KEY=VALUE")
]
Second = Annotated[
    list[str] | None, option(Group.ASKED, "The same of the second side alone.", "KEY=VALUE")
]
Alike = Annotated[
    bool, option(Group.ASKED, "Both sides are the same: what differs is noise.", None, "--alike")
]
UnequalDurability = Annotated[
    bool,
    option(
        Group.ASKED,
        "Compare although commits survive less on one side.",
        None,
        "--unequal-durability",
    ),
]
Profile = Annotated[
    bool,
    option(
        Group.OBSERVATION,
        "Take CPU samples of the engine: by them the difference is explained.",
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
    repeat: Repeat = COMPARE_ROUNDS,
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
    and waits. Each run is an ordinary one; after an interruption, the same command continues.
    """
    from assay.cli.shared.several import end, shown
    from assay.cli.shared.watching import Watching
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
