"""`assay why`: finds the resource that bounds a workload's operations, by limiting each."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated, Any

import typer

from assay.cli.shared.options import Again, AsJson, Budget, RunsDir, Whole, Workload
from assay.cli.shared.output import say_result, width
from assay.cli.shared.run_options import run_keys, with_run_options
from assay.verbs.shared.defaults import COUNT_MAX, WHY_RUNS

OF_RUNS = (
    "operation",
    "engine",
    "bin_dir",
    "scale",
    "settings",
    "buffer",
    "prepare",
    "state",
    "min_time",
    "allow_host_changes",
    "seed",
)
EXAMPLES = """
\b
Examples:
  assay why tpch --operation q01 --engine postgresql --scale 1 --state cold
  assay why tpch --operation q13 --engine duckdb --quick --budget 10m
  assay why ./my-queries --engine postgresql --state cold --allow-host-changes

\b
Exit codes:
  0  all runs ended, or the budget is used up
  1  wrong usage: nothing was run
  2  a run failed, or the command was stopped
"""


@with_run_options(only=OF_RUNS, defaults=WHY_RUNS)
def why(
    context: typer.Context,
    workload: Workload,
    *,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Use fewer levels and rounds, which gives wider intervals."),
    ] = False,
    repeat: Annotated[
        int | None,
        typer.Option(help="Number of rounds [default: 5; --quick: 3].", min=1, max=COUNT_MAX),
    ] = None,
    budget: Budget = None,
    again: Again = False,
    runs: RunsDir = None,
    whole: Whole = False,
    as_json: AsJson = False,
    **options: Any,  # noqa: ANN401 - options of a run
) -> None:
    """Finds the bottleneck of a workload's operations by limiting or slowing resources in turn.

    A first run measures the resource use of each operation. Then `assay why` limits or slows CPU
    and disk at several levels, removes the computation, and shows how the time changes. After an
    interruption, the same command continues the experiments.
    """
    from assay.cli.shared.watching import Watching
    from assay.report.terminal.why import why_lines
    from assay.verbs.why import why as made

    study = made(
        workload,
        quick=quick,
        repeat=repeat,
        budget=budget,
        again=again,
        runs=runs,
        watcher=Watching(),
        **run_keys(context, options),
    )
    say_result(study.bounds, lambda: why_lines(study.bounds, width(), whole=whole), as_json=as_json)


why.__doc__ = f"{cleandoc(why.__doc__ or '')}\n{EXAMPLES}"
