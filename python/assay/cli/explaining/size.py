"""`assay size`: predicts the time on a cluster from the resource use of finished runs."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated, Any

import typer

from assay.cli.shared.options import AsJson, RunsDir
from assay.cli.shared.output import say_result, width
from assay.cli.shared.run_options import options_set

EXAMPLES = """
\b
Examples:
  assay size --scale 10000 --nodes 16     10 TB of TPC-H, from the latest run
  assay size RUN-OF-SF-1 RUN-OF-SF-10 --scale 10000 --nodes 16 --cores 32
  assay size latest --scale 1000 --nodes 4 --network 25Gbit --memory 256GiB

\b
Exit codes: 0 done; 1 wrong usage, or the runs lack the needed measurements.
"""


def size(
    context: typer.Context,
    which: Annotated[
        list[str] | None,
        typer.Argument(
            help="Runs of one workload on one engine, at one or several scales: 'latest', ids or"
            " their beginnings, or paths [default: latest].",
            metavar="[RUN...]",
            show_default=False,
        ),
    ] = None,
    *,
    scale: Annotated[
        float,
        typer.Option(
            help="Scale of the data on the planned cluster, such as 1000 for 1 TB of TPC-H."
        ),
    ],
    nodes: Annotated[int, typer.Option(help="Number of nodes of the planned cluster.", min=1)],
    cores: Annotated[int, typer.Option(help="Number of cores of each node.", min=1)] = 16,
    memory: Annotated[str, typer.Option(help="Memory of each node.", metavar="SIZE")] = "128GiB",
    network: Annotated[
        str,
        typer.Option(help="Network bandwidth of each node, in each direction.", metavar="10Gbit"),
    ] = "10Gbit",
    disk: Annotated[
        str, typer.Option(help="Disk throughput of each node, in bytes a second.", metavar="SIZE")
    ] = "2GiB",
    utilisation: Annotated[
        float, typer.Option(help="Share of a node's cores that an operation keeps busy.")
    ] = 1.0,
    runs: RunsDir = None,
    as_json: AsJson = False,
) -> None:
    """Predicts the minimum time of a workload on a cluster of a given size.

    The costs of each operation (CPU time, bytes between nodes, bytes of storage) come from finished
    runs. If the runs have several scales, a fitted law extrapolates these costs to the requested
    scale. The predicted time is the costs divided by the capacity of the nodes. The output lists
    every assumption.
    """
    from assay.report.study.terminal import figure_lines
    from assay.verbs.size import size as sized

    values: dict[str, Any] = {
        "scale": scale,
        "nodes": nodes,
        "cores": cores,
        "memory": memory,
        "network": network,
        "disk": disk,
        "utilisation": utilisation,
    }
    # Options without a value are left to the Python function, which reports them as assumed.
    given = {name: values[name] for name in options_set(context, values)}
    made = sized(which or ["latest"], runs=runs, **given)
    say_result(made.document, lambda: figure_lines(made.content, width()), as_json=as_json)


size.__doc__ = f"{cleandoc(size.__doc__ or '')}\n{EXAMPLES}"
