"""Predicts a lower bound of a workload's time at another size, on a cluster.

Each operation costs CPU time, bytes between nodes and bytes from storage, as measured. The costs
of operations are extrapolated to the requested size by the power law of the measured sizes; with
one size, in proportion to the data. The time of an operation is at least the longest of three:
CPU time over all cores, bytes over all network ports, and bytes over all disks. The longest time
is a lower bound: all other waits of nodes come on top. Every step is listed as an assumption.

If rows are sent to the node of their key, one in N stays on its node, so 1 - 1/N of the moved
rows go over the network. The bytes that n nodes sent are converted to N nodes by the factor (1 -
1/N) / (1 - 1/n).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.analysis.scales.law import Point, power_law
from assay.model.units import bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Source = Literal["measured", "given", "assumed"]
CPU, NETWORK, DISK, MEMORY = "CPU", "network", "disk", "memory"


@dataclass(frozen=True)
class Taken:
    """The cost of one execution of an operation in one run: CPU, network and storage.

    Attributes:
        scale: Scale of the data, in the workload's own unit.
        round: Round of the run among those at its scale.
        cpu_s: CPU seconds of all nodes.
        sent_bytes: Bytes sent between nodes; None if not counted.
        read_bytes: Bytes of data read, from memory or storage; None if not counted.
    """

    scale: float
    round: int
    cpu_s: float
    sent_bytes: float | None = None
    read_bytes: float | None = None


@dataclass(frozen=True)
class Measured:
    """The measured costs of a workload on one engine, as the input of a prediction.

    Attributes:
        operations: Costs of executions, by operation.
        nodes: Number of nodes that worked in these runs.
        data_bytes: Bytes of the data on disk, by scale.
        memory_bytes: Peak memory of all processes, by scale.
        skew: Largest work of a node over the mean of all nodes; None if not known.
    """

    operations: Mapping[str, Sequence[Taken]]
    nodes: int
    data_bytes: Mapping[float, float]
    memory_bytes: Mapping[float, float]
    skew: float | None = None


@dataclass(frozen=True)
class Cluster:
    """A hypothetical cluster: its nodes, cores, memory, network and storage.

    Attributes:
        nodes: Number of nodes.
        cores: Number of cores of each node, as fast as the measured ones.
        memory_bytes: Bytes of memory of each node.
        network_bytes_per_s: Network bytes per second of each node, in each direction.
        disk_bytes_per_s: Disk bytes per second of each node.
        utilisation: Share of a node's cores that an operation keeps busy.
        given: Names of the attributes that the user gave; the others are assumed.
    """

    nodes: int
    cores: int
    memory_bytes: float
    network_bytes_per_s: float
    disk_bytes_per_s: float
    utilisation: float = 1.0
    given: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Assumption:
    """One assumption of the prediction for a hypothetical cluster.

    Attributes:
        text: Text of the assumption.
        value: Its number as text; empty without a number.
        source: Origin of the number.
    """

    text: str
    value: str
    source: Source


@dataclass(frozen=True)
class SizedOperation:
    """The predicted costs and times of one operation on a hypothetical cluster.

    Attributes:
        name: Name of the operation.
        cpu_s, sent_bytes, read_bytes: Costs of all nodes at the requested size; None if not
            counted.
        seconds: Minimum seconds by resource. Resources that are not known are missing.
    """

    name: str
    cpu_s: float
    sent_bytes: float | None
    read_bytes: float | None
    seconds: Mapping[str, float]

    @property
    def bound(self) -> str:
        """The resource that needs the longest time for the operation."""
        return max(self.seconds, key=lambda name: self.seconds[name])

    @property
    def least_s(self) -> float:
        """The minimum seconds of the operation: those of its slowest resource."""
        return max(self.seconds.values())


@dataclass(frozen=True)
class Sized:
    """The predicted costs and times of a workload on a hypothetical cluster.

    Attributes:
        scale: The requested scale.
        beyond: Factor to the largest measured scale.
        operations: Operations of the workload, in its order.
        data_bytes: Bytes of data on all disks; None if not known.
        memory_bytes: Peak memory of a node in bytes; None if not known: a single scale, or
            memory that does not grow with the data, does not show the base memory of the
            processes.
        fits: Whether the data fit into the memory of all nodes; None if not known.
        assumptions: All assumptions of the prediction.
    """

    scale: float
    beyond: float
    operations: tuple[SizedOperation, ...]
    data_bytes: float | None
    memory_bytes: float | None
    fits: bool | None
    assumptions: tuple[Assumption, ...]

    @property
    def least_s(self) -> float:
        """The minimum seconds of all operations in succession."""
        return math.fsum(operation.least_s for operation in self.operations)


def leaving(nodes: int) -> float:
    """Return the share of rows that leave their node if rows are spread by a hash of their key."""
    return 1.0 - 1.0 / nodes


def sized(measured: Measured, scale: float, cluster: Cluster) -> Sized:
    """Return the predicted costs and times of a workload at a scale on a cluster.

    Args:
        measured: Measurements at one or more scales.
        scale: Scale of the data, above zero.
        cluster: Cluster of one or more nodes.

    Raises:
        ValueError: If there are no measurements.
    """
    scales = {execution.scale for taken in measured.operations.values() for execution in taken}
    if not scales:
        raise ValueError("the run contains no measurement")
    data = _carried(measured.data_bytes.items(), scale)
    fits = None if data is None else data <= cluster.nodes * cluster.memory_bytes
    operations = tuple(
        _operation(name, taken, measured, scale, cluster, fits=fits)
        for name, taken in measured.operations.items()
    )
    memory = _memory(measured.memory_bytes, scale)
    return Sized(
        scale,
        scale / max(scales),
        operations,
        data,
        None if memory is None else memory / cluster.nodes,
        fits,
        tuple(_assumptions(measured, cluster, operations, sorted(scales), fits=fits)),
    )


def _operation(
    name: str,
    taken: Sequence[Taken],
    measured: Measured,
    scale: float,
    cluster: Cluster,
    *,
    fits: bool | None,
) -> SizedOperation:
    skew = measured.skew or 1.0
    cpu_s = _cost_at(taken, "cpu_s", scale)
    assert cpu_s is not None  # noqa: S101 - CPU time is always measured
    sent = _cost_at(taken, "sent_bytes", scale)
    if sent is not None and measured.nodes > 1:
        sent *= leaving(cluster.nodes) / leaving(measured.nodes)
    else:
        # A single node sends nothing, so the bytes of several nodes are not known.
        sent = None if cluster.nodes > 1 else 0.0
    read = _cost_at(taken, "read_bytes", scale)
    seconds = {CPU: cpu_s * skew / (cluster.nodes * cluster.cores * cluster.utilisation)}
    if sent is not None:
        seconds[NETWORK] = sent * skew / (cluster.nodes * cluster.network_bytes_per_s)
    if read is not None and fits is False:
        seconds[DISK] = read * skew / (cluster.nodes * cluster.disk_bytes_per_s)
    return SizedOperation(name, cpu_s, sent, read, seconds)


def _cost_at(taken: Sequence[Taken], what: str, scale: float) -> float | None:
    """Return a cost extrapolated to a data scale; None if no execution has this cost."""
    points = [(execution.round, execution.scale, getattr(execution, what)) for execution in taken]
    return _at([Point(*point) for point in points if point[2] is not None], scale)


def _carried(values: Iterable[tuple[float, float]], scale: float) -> float | None:
    return _at([Point(1, size, value) for size, value in values], scale)


def _memory(by_scale: Mapping[float, float], scale: float) -> float | None:
    """Return the bytes of memory of all nodes at a scale; None if growth is not known.

    Otherwise the memory that processes need without any data is not known.
    """
    law = power_law([Point(1, size, value) for size, value in by_scale.items()])
    grows = law is not None and law.exponent.value > 0
    return _carried(by_scale.items(), scale) if grows else None


def _at(points: Sequence[Point], scale: float) -> float | None:
    """Return a cost at a data scale, by a power law or in proportion.

    A power law of small sizes includes fixed costs, and so predicts too little for much larger
    sizes. A fixed part plus a proportional part predicts too little for costs that grow faster.
    """
    if not points:
        return None
    law = power_law(points)
    if law is not None:
        return max(law.at(scale), law.with_fixed_part(scale))
    largest = max(point.size for point in points)
    own = [point.value for point in points if point.size == largest]
    return math.fsum(own) / len(own) * scale / largest


def _assumptions(
    measured: Measured,
    cluster: Cluster,
    operations: Sequence[SizedOperation],
    scales: Sequence[float],
    *,
    fits: bool | None,
) -> Iterator[Assumption]:
    scales_text = ", ".join(f"{scale:g}" for scale in scales)
    if len(scales) > 1:
        yield Assumption(
            "costs go on growing as between the scales that were run: by a power, or by a fixed"
            " part and one in proportion, whichever says more",
            scales_text,
            "measured",
        )
    else:
        yield Assumption(
            "costs grow in proportion to the data; one scale was run", scales_text, "assumed"
        )
    yield from _machine_assumptions(cluster, operations)
    if any(NETWORK in operation.seconds for operation in operations) and cluster.nodes > 1:
        moved = f"{leaving(measured.nodes):.3g} to {leaving(cluster.nodes):.3g}"
        yield Assumption(
            f"rows go to the node of their key: of what is moved 1 - 1/N is sent, from"
            f" {measured.nodes} nodes to {cluster.nodes}",
            moved,
            "assumed",
        )
        yield Assumption(
            "plans stay as they are: nothing is broadcast that was sent by key, or the other way",
            "",
            "assumed",
        )
    elif cluster.nodes > 1:
        yield Assumption(
            "what nodes would send each other is not known: no run was of several nodes that"
            " count it",
            "",
            "assumed",
        )
    skew = measured.skew
    yield Assumption(
        "the busiest node does so many times what nodes do on the average",
        "1" if skew is None else f"{skew:.3g}",
        "assumed" if skew is None else "measured",
    )
    yield Assumption(
        {
            True: "the data fit into the memory of all nodes, and stay there",
            False: "the data do not fit into the memory of all nodes: what an operation reads of"
            " them comes from disk, as far as that was counted",
            None: "the data stay in memory; how large they are is not known",
        }[fits],
        "",
        "measured" if fits is not None else "assumed",
    )
    yield Assumption(
        "nothing else makes nodes wait: no barrier, no blocking on write, no scheduling",
        "",
        "assumed",
    )


def _machine_assumptions(
    cluster: Cluster, operations: Sequence[SizedOperation]
) -> Iterator[Assumption]:
    """Yield the prediction's assumptions on the resources of each node."""

    def said(name: str) -> Source:
        return "given" if name in cluster.given else "assumed"

    yield Assumption(
        "a core does as much as one of the measurement; each node has so many",
        str(cluster.cores),
        said("cores"),
    )
    yield Assumption(
        "so much of the cores is kept busy while an operation runs",
        f"{cluster.utilisation:.0%}",
        said("utilisation"),
    )
    yield Assumption(
        "each node has so much memory", bytes_text(cluster.memory_bytes), said("memory")
    )
    if any(NETWORK in operation.seconds for operation in operations) and cluster.nodes > 1:
        speed = f"{bytes_text(cluster.network_bytes_per_s)}/s"
        yield Assumption("each node sends and receives so much at once", speed, said("network"))
    if any(DISK in operation.seconds for operation in operations):
        speed = f"{bytes_text(cluster.disk_bytes_per_s)}/s"
        yield Assumption("each node reads so much from its disks", speed, said("disk"))
