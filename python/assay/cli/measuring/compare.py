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
  0  all runs ended, or the budget is used up
  1  wrong usage: nothing was run
  2  a run failed, or the command was stopped
  3  a run is invalid
"""

Engines = Annotated[
    list[str] | None,
    option(
        Group.ASKED,
        "Engine to compare. Two --engine options compare two engines; one --engine option names"
        " the engine of both sides.",
        "NAME[@VERSION]",
    ),
]
Vary = Annotated[
    list[str] | None,
    option(
        Group.ASKED,
        "An option of `assay run` or a setting of the engine, with its value on each side; can be"
        " repeated.",
        "KEY=V1,V2",
    ),
]
First = Annotated[
    list[str] | None,
    option(
        Group.ASKED,
        "An option or setting with its value for the first side only; can be repeated.",
        "KEY=VALUE",
    ),
]
Second = Annotated[
    list[str] | None,
    option(
        Group.ASKED,
        "An option or setting with its value for the second side only; can be repeated.",
        "KEY=VALUE",
    ),
]
Alike = Annotated[
    bool,
    option(
        Group.ASKED,
        "Use the same engine and settings on both sides, to measure the noise.",
        None,
        "--alike",
    ),
]
UnequalDurability = Annotated[
    bool,
    option(
        Group.ASKED,
        "Compare although committed transactions survive fewer kinds of crashes on one side.",
        None,
        "--unequal-durability",
    ),
]
Profile = Annotated[
    bool,
    option(
        Group.OBSERVATION,
        "Take CPU samples of the engine, so that the report can attribute the difference to"
        " functions.",
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
    """Compares two engines, versions or settings, and attributes the difference to its causes.

    Assay alternates runs of both sides. Ratios have intervals. The difference of a transaction is
    split by statement and attributed to plans, columns, reads, the optimiser, kinds of work and
    waits. After an interruption, the same command continues the comparison.
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
