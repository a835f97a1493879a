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
  0  done, as far as the budget allows    2  runs failed, or it was stopped
  1  wrong usage: nothing was run         3  some run is invalid
"""


Engines = Annotated[
    list[str] | None,
    option(
        Group.ASKED,
        "An engine (see `assay engines`); repeated, each is run at every level [default:"
        " duckdb, or what --dsn names].",
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
        "Scales of the data: what each cost grows by [default: the workload's own].",
        "1,10,...",
    ),
]
Extrapolate = Annotated[
    str | None,
    option(Group.ASKED, "Larger scales that are not run, by the laws of those that are.", "100"),
]
Profile = Annotated[
    bool | None,
    option(
        Group.OBSERVATION,
        "Take CPU samples of the engine [default: at several scales, else not].",
    ),
]
Vary = Annotated[
    list[str] | None,
    option(
        Group.ASKED,
        "An option of `assay run`, a knob (`assay engines show ENGINE` lists them) or else a"
        " setting of the engine, and its values; can be repeated: all combinations are run.",
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

    By clients it shows operations and statements a second, latency, errors, retries and wasted
    work. It fits the Universal Scalability Law, names the knee, and says what limits. By scale it
    shows how each cost grows, which shares of the time shift, and what larger scales would cost.
    Each run is an ordinary one; after an interruption, the same command continues.
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
