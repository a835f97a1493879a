"""`assay size`: a cluster on paper, from what finished runs took."""

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
Exit codes: 0 done; 1 wrong usage, or runs that do not tell what it takes.
"""


def size(
    context: typer.Context,
    which: Annotated[
        list[str] | None,
        typer.Argument(
            help="Runs of one workload on one engine, at one scale or several: 'latest', ids or"
            " their beginnings, or paths [default: latest].",
            metavar="[RUN...]",
            show_default=False,
        ),
    ] = None,
    *,
    scale: Annotated[
        float, typer.Option(help="Of the data that are thought of: of TPC-H 1000 is 1 TB.")
    ],
    nodes: Annotated[int, typer.Option(help="Of the cluster that is thought of.", min=1)],
    cores: Annotated[int, typer.Option(help="Of each node.", min=1)] = 16,
    memory: Annotated[str, typer.Option(help="Of each node.", metavar="SIZE")] = "128GiB",
    network: Annotated[
        str, typer.Option(help="Of each node, in each direction.", metavar="10Gbit")
    ] = "10Gbit",
    disk: Annotated[str, typer.Option(help="Of each node, a second.", metavar="SIZE")] = "2GiB",
    utilisation: Annotated[
        float, typer.Option(help="The part of its cores that an operation keeps busy.")
    ] = 1.0,
    runs: RunsDir = None,
    as_json: AsJson = False,
) -> None:
    """Says what a workload would take at least of a cluster that is not there, on paper.

    Costs of each operation (CPU time, bytes between nodes, bytes of storage) are carried from
    finished runs to the size that is asked for, by a law where several scales were run, and are
    divided by what the nodes have. Every step is told as an assumption.
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
    # What nobody said is left to the verb, which calls it assumed.
    given = {name: values[name] for name in options_set(context, values)}
    made = sized(which or ["latest"], runs=runs, **given)
    say_result(made.document, lambda: figure_lines(made.content, width()), as_json=as_json)


size.__doc__ = f"{cleandoc(size.__doc__ or '')}\n{EXAMPLES}"
