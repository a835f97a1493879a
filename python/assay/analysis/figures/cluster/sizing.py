"""Chart of the predicted time of a workload on a hypothetical cluster, with its assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.quantities import BYTES, SECONDS, TIMES, by_subject, spread, text
from assay.analysis.size.cluster import CPU, DISK, NETWORK, Cluster, sized
from assay.analysis.size.runs import measured_of
from assay.model.errors import UsageError
from assay.model.units import parse_bit_rate, parse_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.size.cluster import Sized

T = TypeVar("T", int, float)
OPTIONS = {
    "scale": "of the data that are thought of",
    "nodes": "of the cluster that is thought of",
    "cores": "of each node; without it 16",
    "memory": "of each node, such as 128GiB; without it that",
    "network": "of each node, in each direction, such as 10Gbit; without it that",
    "disk": "of each node, a second, such as 2GiB; without it that",
    "utilisation": "the part of its cores that an operation keeps busy; without it 1",
    "without": "factors that make no subjects: scales, above all; without it scale",
}
CORES, MEMORY, NETWORK_SPEED, DISK_SPEED = 16, "128GiB", "10Gbit", "2GiB"
RESOURCES = (CPU, NETWORK, DISK)
# Maximum of each option as a number and as text. Beyond them, predictions would be infinite.
MAXIMA = {
    "scale": (1e12, "1e12"),
    "nodes": (1e6, "1,000,000"),
    "cores": (1e6, "1,000,000"),
    "memory": (2.0**60, "1048576TiB"),
    "network": (1e15 / 8, "1000Tbit"),
    "disk": (2.0**60, "1048576TiB"),
}
UTILISATION_MIN = 0.001


def cluster_of(options: Mapping[str, Any]) -> Cluster:
    """Return the hypothetical cluster that the options describe.

    Raises:
        UsageError: If an option's value is not valid.
    """
    if "nodes" not in options:
        raise UsageError("nodes: write the number of nodes to predict for, such as nodes = 16")
    nodes = _read("nodes", options["nodes"], int, "16")
    cores = _read("cores", options.get("cores", CORES), int, str(CORES))
    utilisation = _read("utilisation", options.get("utilisation", 1.0), float, "0.6")
    disk = str(options.get("disk", DISK_SPEED)).removesuffix("/s")
    cluster = Cluster(
        nodes,
        cores,
        _read("memory", options.get("memory", MEMORY), parse_bytes, MEMORY),
        _read("network", options.get("network", NETWORK_SPEED), parse_bit_rate, NETWORK_SPEED),
        _read("disk", disk, parse_bytes, DISK_SPEED),
        utilisation,
        frozenset(options),
    )
    if nodes < 1 or cores < 1:
        raise UsageError("nodes and cores must be whole numbers of 1 or more")
    if not UTILISATION_MIN <= utilisation <= 1:
        raise UsageError(
            f"utilisation {utilisation:g}: write the used share of the cores, from "
            f"{UTILISATION_MIN} to 1"
        )
    return cluster


def _read(name: str, value: object, read: Callable[[str], T], such_as: str) -> T:
    try:
        number = read(str(value))
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{name} {value}: write it as {such_as}") from error
    most, most_text = MAXIMA.get(name, (float("inf"), ""))
    if number > most:
        raise UsageError(f"{name} {value}: the maximum is {most_text}")
    return number


def figure(asked: Asked) -> Figure:
    """Return a chart of the predicted time on hypothetical clusters."""
    cluster = cluster_of(asked.options)
    scale = _read("scale", asked.options.get("scale", 0.0), float, "1000")
    if not 0 < scale < float("inf"):
        raise UsageError("scale: write the scale of the data as a number above 0")
    estimates: dict[str, Sized] = {}
    missing = []
    for subject in subjects_of(asked, without=asked.options.get("without", ("scale",))):
        try:
            measured = measured_of([run.run for run in subject.runs])
        except ValueError as error:
            missing.append(f"{subject.name}: {error}")
        else:
            estimates[subject.name] = sized(measured, scale, cluster)
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(name, estimate, cluster) for name, estimate in estimates.items()),
        subjects=tuple(estimates),
        measures=tuple(_measures(estimates)),
        tables=(_table(estimates), _whole_table(estimates)) if estimates else (),
        charts=_charts(estimates),
        notes=tuple(_notes(estimates)),
        missing=tuple(missing) + tuple(_unknowns(estimates, cluster)),
    )


def _measures(estimates: Mapping[str, Sized]) -> Iterator[Measure]:
    names = dict.fromkeys(
        operation.name for sized in estimates.values() for operation in sized.operations
    )
    for name in names:
        values = by_subject(
            (
                subject,
                spread(
                    operation.least_s for operation in sized.operations if operation.name == name
                ),
            )
            for subject, sized in estimates.items()
        )
        yield Measure(name, f"{name}, at least", SECONDS, values)
    values = by_subject((subject, spread([sized.least_s])) for subject, sized in estimates.items())
    yield Measure("total", "all, one after another, at least", SECONDS, values)


def _table(estimates: Mapping[str, Sized]) -> Table:
    columns = (
        Column("subject"),
        Column("operation"),
        Column("CPU time", SECONDS, 3),
        Column("bytes between nodes", BYTES),
        *(Column(f"at least, by {name}", SECONDS, 3) for name in RESOURCES),
        Column("bound by"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            subject,
            operation.name,
            operation.cpu_s,
            operation.sent_bytes,
            *(operation.seconds.get(name) for name in RESOURCES),
            operation.bound,
        )
        for subject, sized in estimates.items()
        for operation in sized.operations
    ]
    return Table("operations", "each operation on paper", columns, tuple(rows))


def _whole_table(estimates: Mapping[str, Sized]) -> Table:
    columns = (
        Column("subject"),
        Column("all operations, at least", SECONDS),
        Column("data on disk", BYTES),
        Column("peak memory of a node", BYTES),
        Column("fit into memory"),
        Column("beyond what was run", TIMES),
    )
    labels = {True: "yes", False: "no", None: None}
    rows = tuple(
        (
            name,
            estimate.least_s,
            estimate.data_bytes,
            estimate.memory_bytes,
            labels[estimate.fits],
            estimate.beyond,
        )
        for name, estimate in estimates.items()
    )
    return Table("whole", "the whole on paper", columns, rows)


def _charts(estimates: Mapping[str, Sized]) -> tuple[Chart, ...]:
    keys = list(
        dict.fromkeys(
            operation.name for sized in estimates.values() for operation in sized.operations
        )
    )
    return (Chart("least", "at least", "bars", tuple(keys)),) if keys else ()


def _says(name: str, estimate: Sized, cluster: Cluster) -> str:
    bound: dict[str, float] = {}
    for operation in estimate.operations:
        bound[operation.bound] = bound.get(operation.bound, 0.0) + operation.least_s
    most = max(bound, key=lambda resource: bound[resource])
    alone = len(estimate.operations) == 1
    what = (
        f"{estimate.operations[0].name} takes"
        if alone
        else f"{len(estimate.operations)} operations one after another take"
    )
    sentence = (
        f"{name}: at scale {estimate.scale:g} on {_count(cluster.nodes, 'node')} of"
        f" {_count(cluster.cores, 'core')} {what} at least {text(estimate.least_s, SECONDS)}, bound"
        f" by {most}"
    )
    if estimate.memory_bytes is not None and estimate.memory_bytes > cluster.memory_bytes:
        sentence += (
            f"; a node would need {text(estimate.memory_bytes, BYTES)} of memory at the peak, more"
            f" than its {text(cluster.memory_bytes, BYTES)}"
        )
    return f"{sentence}."


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _notes(estimates: Mapping[str, Sized]) -> Iterator[str]:
    far = max((estimate.beyond for estimate in estimates.values()), default=1.0)
    beyond = (
        f" The size is {text(far, TIMES)} the largest that was run: what changes on the way"
        " (plans, caches, spilling) is in no figure."
        if far > 1
        else ""
    )
    yield f"These are bounds on paper and no predictions.{beyond}"
    for name, estimate in estimates.items():
        subject = f"{name}: " if len(estimates) > 1 else ""
        for step in estimate.assumptions:
            value = f": {step.value}" if step.value else ""
            yield f"{subject}{step.source}: {step.text}{value}"


def _unknowns(estimates: Mapping[str, Sized], cluster: Cluster) -> Iterator[str]:
    for name, estimate in estimates.items():
        if cluster.nodes > 1 and not any(NETWORK in op.seconds for op in estimate.operations):
            yield (
                f"{name}: the network: no run of several nodes that count bytes between them: run"
                " it on an engine with workers"
            )
        if estimate.memory_bytes is None:
            yield (
                f"{name}: the peak memory of a node: it takes runs of two scales between which it"
                " grew, as what processes take anyway is not told apart"
            )
        if estimate.fits is False and not any(DISK in op.seconds for op in estimate.operations):
            yield f"{name}: the disks: what operations read of the data was not counted"
