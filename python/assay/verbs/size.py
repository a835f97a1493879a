"""`assay size`: predicts the time on a cluster from the resource use of finished runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.figures.cluster.sizing import figure
from assay.analysis.figures.contract import Asked
from assay.analysis.size.runs import measured_of
from assay.analysis.study_runs import StudyRun
from assay.model.errors import UsageError
from assay.record.places import runs_dir
from assay.record.reader import find_measured_run
from assay.report.results.size import Size

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.record.reader import Run


def size(
    which: str | Sequence[str] = "latest",
    *,
    scale: float,
    nodes: int,
    cores: int | None = None,
    memory: str | None = None,
    network: str | None = None,
    disk: str | None = None,
    utilisation: float | None = None,
    runs: Path | str | None = None,
) -> Size:
    """Predicts the minimum time of a workload on a cluster of a given size.

    For each argument that is None a value is assumed, and the result states it.

    Args:
        which: One or more runs of one workload on one engine, at one or several scales: `latest`,
            ids, beginnings of ids, or paths.
        scale: Scale of the data on the cluster.
        nodes: Number of nodes of the planned cluster.
        cores: Cores of each node.
        memory: Memory of each node, such as `128GiB`.
        network: Network bandwidth of each node in each direction, such as `10Gbit`.
        disk: Disk bandwidth of each node per second, such as `2GiB`.
        utilisation: Share of a node's cores that an operation keeps busy.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.

    Returns:
        The prediction. The prediction's `document` is the one that `assay size --json` prints.

    Raises:
        UsageError: If the runs cannot be combined, or did not record their resource use.
    """
    place = runs_dir(runs)
    names = [which] if isinstance(which, str) else which
    records = [find_measured_run(name, place) for name in names]
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
    options = {name: value for name, value in values.items() if value is not None}
    _check(records)
    made = figure(Asked("size", "sizing", _title(records[0], nodes), taken, options))
    return Size(made, [run.id for run in records])


def _check(runs: Sequence[Run]) -> None:
    """Refuse runs of different engines or workloads, or without measured resource use."""
    try:
        measured_of(runs)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _title(run: Run, nodes: int) -> str:
    workload = run.facts["workload"]
    on = f"{nodes} node{'' if nodes == 1 else 's'}"
    return f"{workload.get('title') or workload['name']} on {on}, on paper"
