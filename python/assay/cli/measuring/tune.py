"""`assay tune`: searches settings of an engine; recommends one if its gain exceeds noise."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated, Any

import typer

from assay.cli.shared.options import Again, AsJson, Budget, RunsDir, Whole, Workload, option
from assay.cli.shared.output import complain
from assay.cli.shared.run_options import run_keys, with_run_options
from assay.cli.shared.scale_name import SCALE, check_scale_name
from assay.running.asked.declaring import Group
from assay.verbs.shared.defaults import TUNE_BUDGET, TUNE_RUNS

EXIT_NOTHING = 5
EXAMPLES = """
\b
Examples:
  assay tune tpch -o q18 --engine postgresql --knob work_mem=4MB..512MB
  assay tune tpch --knob threads=1..4 --knob memory_limit=256MB..1GB
  assay tune tpch --engine postgresql --budget 1h    all knobs that it names
  assay tune tpcb --engine postgresql --clients 8 --knob wal_buffers=1MB..64MB

\b
Exit codes:
  0  a setting is recommended
  1  wrong usage: nothing was run
  2  the run with default settings failed, or the command was stopped
  5  no setting is faster than the defaults beyond noise
"""


Knobs = Annotated[
    list[str] | None,
    option(
        Group.ASKED,
        "A setting of the engine, with the values to search: NAME=LOW..HIGH or NAME=a,b,c; can be"
        " repeated [default: the knobs that the engine declares].",
        "NAME=LOW..HIGH|NAME=a,b,c|NAME",
    ),
]
Objective = Annotated[
    str | None,
    option(
        Group.ASKED,
        "Metric to improve, such as geometric_mean_seconds or latency_seconds_p99, or the time of"
        " an operation [default: seconds of all operations; for a mix, operations per second].",
        "METRIC",
    ),
]


@with_run_options(defaults=TUNE_RUNS)
def tune(
    context: typer.Context,
    workload: Workload,
    *,
    knob: Knobs = None,
    objective: Objective = None,
    budget: Budget = TUNE_BUDGET,
    again: Again = False,
    runs: RunsDir = None,
    whole: Whole = False,
    as_json: AsJson = False,
    **options: Any,  # noqa: ANN401 - options of `assay run`
) -> None:
    """Searches for settings of an engine with which a workload is faster than with the defaults.

    Optuna chooses settings, and their runs alternate with runs of the defaults. `assay tune`
    repeats the best settings, and then compares the best one with the defaults in independent runs.
    The search ends when the interval of the measured gain excludes zero, or when the budget is used
    up. `assay tune` recommends no setting whose gain is within the noise. After an interruption,
    the same command continues the search.
    """
    from assay.cli.shared.several import shown
    from assay.cli.shared.watching import Watching
    from assay.verbs.tune import tune as searched

    check_scale_name(context.meta[SCALE], workload)
    tuned = searched(
        workload,
        knob=knob or (),
        objective=objective,
        budget=budget,
        again=again,
        runs=runs,
        watcher=Watching(),
        **run_keys(context, options),
    )
    shown(tuned.study, whole=whole, as_json=as_json)
    if not tuned.is_better:
        complain("nothing is recommended: no setting is better than the default beyond noise")
        if not tuned.is_decided:
            complain("it was not decided: the same command with a larger --budget goes on")
        raise typer.Exit(EXIT_NOTHING)


tune.__doc__ = f"{cleandoc(tune.__doc__ or '')}\n{EXAMPLES}"
