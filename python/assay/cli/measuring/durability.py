"""`assay durability`: kills an engine under load, and searches for every acknowledged write."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated, Any

import typer

from assay.cli.shared.options import Again, AsJson, Budget, RunsDir
from assay.cli.shared.run_options import run_keys, with_run_options
from assay.running.asked.parsing import COPIES_MAX
from assay.verbs.shared.defaults import COUNT_MAX, DURABILITY_RUNS, KILLED_BETWEEN, KILLS

OF_RUNS = (
    "engine",
    "bin_dir",
    "scale",
    "settings",
    "durability",
    "clients",
    "pipeline",
    "allow_host_changes",
    "seed",
)
EXAMPLES = """
\b
Examples:
  assay durability tpcc --engine postgresql --kills 10
  assay durability tpcc --engine mysql --durability relaxed --clients 8
  assay durability tpcc --engine sqlite --kills 3 --between 500ms-2s
  assay durability tpcc --kills 0 --copies 5 --allow-host-changes

\b
After a kill, data that were never written to the device are still in the
kernel's page cache. --copies also tests such data, because it recovers the
database from snapshots of the device.

\b
Exit codes:
  0  every acknowledged write was found
  1  wrong usage: nothing was run
  2  a run failed, or the command was stopped
  3  an acknowledged write was lost
"""


Kills = Annotated[
    int,
    typer.Option(
        help=("Number of kills of the engine; each kill needs one run."), min=0, max=COUNT_MAX
    ),
]
Copies = Annotated[
    int,
    typer.Option(
        help="Number of snapshots of the engine's device, in one additional run (needs root and"
        " --allow-host-changes).",
        min=0,
        max=COPIES_MAX,
    ),
]
Between = Annotated[
    str,
    typer.Option(
        help=(
            "Time range after the load's start from which the time of each kill is drawn at random."
        ),
        metavar="2s-5s",
    ),
]


@with_run_options(only=OF_RUNS, defaults=DURABILITY_RUNS)
def durability(
    context: typer.Context,
    workload: Annotated[
        str, typer.Argument(help="A workload that declares receipts, such as tpcc.")
    ],
    *,
    kills: Kills = KILLS,
    copies: Copies = 0,
    between: Between = KILLED_BETWEEN,
    budget: Budget = None,
    again: Again = False,
    runs: RunsDir = None,
    as_json: AsJson = False,
    **options: Any,  # noqa: ANN401 - options of a run
) -> None:
    """Kills an engine under load, and checks that its database lost no acknowledged write.

    Each kill is a separate run with --kill. After an interruption, the same command continues with
    the remaining kills.
    """
    from assay.cli.shared.several import end, shown
    from assay.cli.shared.watching import Watching
    from assay.verbs.durability import durability as made

    study = made(
        workload,
        kills=kills,
        copies=copies,
        between=between,
        budget=budget,
        again=again,
        runs=runs,
        watcher=Watching(),
        **run_keys(context, options),
    )
    end(shown(study, whole=True, as_json=as_json))


durability.__doc__ = f"{cleandoc(durability.__doc__ or '')}\n{EXAMPLES}"
