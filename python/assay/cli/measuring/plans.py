"""`assay plans`: compares the plan that an engine chooses for a query with its other plans."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated, Any

import typer

from assay.cli.shared.options import EXIT_INVALID, Again, AsJson, Budget, Repeat, RunsDir, Workload
from assay.cli.shared.output import complain
from assay.cli.shared.run_options import run_keys, with_run_options
from assay.verbs.shared.defaults import COUNT_MAX, CUT_OFF, PLANS, PLANS_ROUNDS

EXAMPLES = """
\b
Examples:
  assay plans tpch --operation q09 --engine postgresql
  assay plans tpch -o q05 --scale 0.1 --most 40 --repeat 9
  assay plans ./my-queries -o slow --engine postgresql --set work_mem=64MB

\b
Exit codes:
  0  all plans gave the same answer
  1  wrong usage: nothing was run
  2  a run failed, or the command was stopped
  3  a plan gave another answer than the optimiser's plan
"""


Operation = Annotated[
    str,
    typer.Option(
        "--operation",
        help="The query to execute with other plans.",
        metavar="NAME",
    ),
]
Most = Annotated[
    int,
    typer.Option(
        help=("Maximum number of plans, including the optimiser's plan."), min=2, max=COUNT_MAX
    ),
]
CutOff = Annotated[
    float,
    typer.Option(
        help=("Cancel a plan that takes this many times as long as the optimiser's plan.")
    ),
]


@with_run_options(only=("engine", "dsn", "scale", "settings", "buffer", "seed"))
def plans(
    context: typer.Context,
    workload: Workload,
    *,
    operation: Operation,
    most: Most = PLANS,
    cut_off: CutOff = CUT_OFF,
    repeat: Repeat = PLANS_ROUNDS,
    budget: Budget = None,
    again: Again = False,
    runs: RunsDir = None,
    as_json: AsJson = False,
    **options: Any,  # noqa: ANN401 - options of a run
) -> None:
    """Forces alternative plans of a query and compares their times with the optimiser's plan.

    Assay switches off planner techniques one by one and in pairs, and joins tables in other orders.
    Assay executes plans of different shape in alternating order, with all data in memory, and
    compares their times and their answers.
    """
    from assay.cli.shared.several import end, shown
    from assay.cli.shared.watching import Watching
    from assay.verbs.plans import plans as made

    study = made(
        workload,
        operation=operation,
        most=most,
        repeat=repeat,
        cut_off=cut_off,
        budget=budget,
        again=again,
        runs=runs,
        watcher=Watching(),
        **run_keys(context, options),
    )
    shown(study, whole=True, as_json=as_json)
    if not study.answers_agree:
        complain("some plans gave another answer than the chosen one")
        raise typer.Exit(EXIT_INVALID)
    end(study)


plans.__doc__ = f"{cleandoc(plans.__doc__ or '')}\n{EXAMPLES}"
