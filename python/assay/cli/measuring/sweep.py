"""`assay sweep`: runs a workload at several numbers of clients, scales, or option values."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated, Any

import typer

from assay.cli.shared.options import Again, AsJson, Budget, Repeat, RunsDir, Whole, Workload, option
from assay.cli.shared.run_options import run_keys, with_run_options
from assay.cli.shared.scale_name import SCALE, check_scale_name
from assay.running.asked.declaring import Group
from assay.verbs.shared.defaults import SWEEP_ROUNDS

EXAMPLES = """
\b
Examples:
  assay sweep tpcc --engine postgresql --clients 1,2,4,8,16 --time 30s
  assay sweep tpcc --engine dolt --engine mysql --clients 1,2,4,8 --budget 30m
  assay sweep tpcb --engine postgresql --clients 1,2,4,8 --durability none
  assay sweep tpch --engine duckdb --scale 0.1,0.3,1 --extrapolate 10
  assay sweep tpch -o q18 --engine postgresql --vary work_mem=4MB,64MB,256MB
  assay sweep tpch -o q13 --engine virtuoso --vary vector=10000,100000,1000000
  assay sweep oltp-read --engine mysql --clients 8 --vary buffer=64MB,256MB

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
        "Engine to measure (see `assay engines`). If --engine is repeated, every engine is"
        " measured at every level [default: duckdb, or the engine that --dsn names].",
        "NAME[@VERSION]",
    ),
]
Clients = Annotated[
    str | None,
    option(Group.LOAD, "Numbers of sessions that draw from the mix.", "1,2,4,8,16"),
]
Scales = Annotated[
    str | None,
    option(
        Group.ASKED,
        "Scales of the data, to measure how each cost grows with the scale [default: the"
        " workload's scale].",
        "1,10,...",
    ),
]
Extrapolate = Annotated[
    str | None,
    option(
        Group.ASKED,
        "Larger scales for which costs are extrapolated from the measured scales.",
        "100",
    ),
]
Profile = Annotated[
    bool | None,
    option(
        Group.OBSERVATION,
        "Take CPU samples of the engine [default: only in a sweep of scales].",
    ),
]
Vary = Annotated[
    list[str] | None,
    option(
        Group.ASKED,
        "An option of `assay run`, a knob (`assay engines show ENGINE` lists them) or a setting"
        " of the engine, with its values. If --vary is repeated, Assay runs all combinations of"
        " values.",
        "KEY=V1,V2,...",
    ),
]


@with_run_options()
def sweep(
    context: typer.Context,
    workload: Workload,
    *,
    engine: Engines = None,
    clients: Clients = None,
    scale: Scales = None,
    extrapolate: Extrapolate = None,
    profile: Profile = None,
    vary: Vary = None,
    repeat: Repeat = SWEEP_ROUNDS,
    budget: Budget = None,
    again: Again = False,
    runs: RunsDir = None,
    whole: Whole = False,
    as_json: AsJson = False,
    **options: Any,  # noqa: ANN401 - options of `assay run`
) -> None:
    """Runs a workload at several numbers of clients, scales, or values of a setting, in turns.

    A sweep of clients shows operations and statements a second, latency, errors, retries and wasted
    work. For a sweep of clients, Assay fits the Universal Scalability Law, and names the number of
    clients at the knee and the bottleneck. A sweep of scales shows how each cost and share of the
    time grows, and predicts the cost of larger scales. After an interruption, the same command
    continues the sweep.
    """
    from assay.cli.shared.several import end, shown
    from assay.cli.shared.watching import Watching
    from assay.study.sweep import numbers_of_clients, scales_from
    from assay.verbs.sweep import sweep as made

    check_scale_name(context.meta[SCALE], workload)
    keys = run_keys(context, options) | ({} if profile is None else {"profile": profile})
    study = made(
        workload,
        engine=engine or (),
        clients=numbers_of_clients(clients),
        scale=scales_from("--scale", scale),
        extrapolate=scales_from("--extrapolate", extrapolate),
        vary=vary or (),
        repeat=repeat,
        budget=budget,
        again=again,
        runs=runs,
        watcher=Watching(),
        **keys,
    )
    end(shown(study, whole=whole, as_json=as_json))


sweep.__doc__ = f"{cleandoc(sweep.__doc__ or '')}\n{EXAMPLES}"
