"""`assay size`: a cluster on paper, from what finished runs took."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import AsJson, RunsDir
from assay.cli.run_options import options_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.record.reader import Run

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
    from dataclasses import asdict

    from assay.analysis.figures.cluster.sizing import figure
    from assay.analysis.figures.contract import Asked
    from assay.analysis.study_runs import StudyRun
    from assay.cli.output import console, say, say_json
    from assay.record.places import runs_dir
    from assay.record.reader import find_workload_run
    from assay.report.study.figure_entries import figure_content
    from assay.report.study.terminal import figure_lines
    from assay.report.terminal.summary import width_of

    place = runs_dir(runs)
    records = [find_workload_run(name, place) for name in which or ["latest"]]
    taken = tuple(
        StudyRun("runs", {"scale": f"{run.facts['request']['scale']:g}"}, number, run)
        for number, run in enumerate(records, 1)
    )
    values = {
        "scale": scale,
        "nodes": nodes,
        "cores": cores,
        "memory": memory,
        "network": network,
        "disk": disk,
        "utilisation": utilisation,
    }
    # What nobody said is left to the figure, which calls it assumed.
    options = {name: values[name] for name in options_set(context, values)}
    _check(records)
    made = figure(Asked("size", "sizing", _title(records[0], nodes), taken, options))
    if as_json:
        say_json(asdict(made) | {"runs": [run.id for run in records]})
        return
    for line in figure_lines(figure_content(made), width_of(console(stderr=False))):
        say(line)


def _check(runs: Sequence[Run]) -> None:
    """Refuses runs that do not belong together, or do not tell what they took."""
    from assay.analysis.size.runs import measured_of
    from assay.model.errors import UsageError

    try:
        measured_of(runs)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _title(run: Run, nodes: int) -> str:
    workload = run.facts["workload"]
    on = f"{nodes} node{'' if nodes == 1 else 's'}"
    return f"{workload.get('title') or workload['name']} on {on}, on paper"


size.__doc__ = f"{cleandoc(size.__doc__ or '')}\n{EXAMPLES}"
