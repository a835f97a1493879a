"""Predicts a workload's time at another size, on another number of nodes.

Each operation costs CPU time, bytes between nodes and bytes of storage, as they were measured.
They are carried to the size that is asked for by the law of the sizes that were measured, of one
size in proportion to the data. Its time is at least the longest of three: CPU time over all cores,
bytes over all network ports, and bytes over all disks. It is a bound and no prediction: whatever
else makes nodes wait comes on top, and every step is told as an assumption.

Rows that are sent to the node of their key stay at home with one chance in N, so of what is moved
1 - 1/N goes over the network; what n nodes sent is carried to N nodes by (1 - 1/N) / (1 - 1/n).
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
    """The cost of one execution of an operation in one run.

    Attributes:
        scale: Scale of the data, in the workload's own measure.
        round: Round of the run among those at its scale.
        cpu_s: CPU seconds of all nodes.
        sent_bytes: Between nodes; None if that was not counted.
        read_bytes: Bytes read of the data, wherever they were; None if that was not counted.
    """

    scale: float
    round: int
    cpu_s: float
    sent_bytes: float | None = None
    read_bytes: float | None = None


@dataclass(frozen=True)
class Measured:
    """The measurements of a workload on one subject.

    Attributes:
        operations: Executions by operation.
        nodes: Number of nodes that worked in these runs.
        data_bytes: Bytes of the data as they lie on disk, by scale.
        memory_bytes: Peak of all processes, by scale.
        skew: The most that a node did over the mean of all; None if that is not known.
    """

    operations: Mapping[str, Sequence[Taken]]
    nodes: int
    data_bytes: Mapping[float, float]
    memory_bytes: Mapping[float, float]
    skew: float | None = None


@dataclass(frozen=True)
class Cluster:
    """The machines that are thought of.

    Attributes:
        nodes: Number of nodes.
        cores: Number of cores of each node, as fast as the measured ones.
        memory_bytes: Bytes of memory of each node.
        network_bytes_per_s: Network bytes a second of each node, in each direction.
        disk_bytes_per_s: Disk bytes a second of each node.
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
    """One assumption of the prediction.

    Attributes:
        words: The assumption in words.
        value: Its number as text; empty if it has none.
        source: Origin of the number.
    """

    words: str
    value: str
    source: Source


@dataclass(frozen=True)
class SizedOperation:
    """One operation on paper.

    Attributes:
        name: Name of the operation.
        cpu_s, sent_bytes, read_bytes: Of all nodes, at the size that is asked for; None if
            that was not counted.
        seconds: At least, by resource; those that are not known are missing.
    """

    name: str
    cpu_s: float
    sent_bytes: float | None
    read_bytes: float | None
    seconds: Mapping[str, float]

    @property
    def bound(self) -> str:
        """The resource that takes longest."""
        return max(self.seconds, key=lambda name: self.seconds[name])

    @property
    def least_s(self) -> float:
        """The least time, which its slowest part sets, in seconds."""
        return max(self.seconds.values())


@dataclass(frozen=True)
class Sized:
    """A workload on paper.

    Attributes:
        scale: The requested scale.
        beyond: Factor to the largest measured scale.
        operations: Operations of the workload, in its order.
        data_bytes: On all disks; None if that is not known.
        memory_bytes: Bytes of memory of a node, at the peak; None if that is not known: of one
            scale, or where it did not grow with the data, what processes take anyway is not told
            apart.
        fits: Whether the data fit into the memory of all nodes; None if that is not known.
        assumptions: Each step.
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
        """The least time of all operations one after another."""
        return math.fsum(operation.least_s for operation in self.operations)


def leaving(nodes: int) -> float:
    """The part of rows that goes to another node, where each goes to the node of its key."""
    return 1.0 - 1.0 / nodes


def sized(measured: Measured, scale: float, cluster: Cluster) -> Sized:
    """Return the workload at a scale on a cluster.

    Args:
        measured: At one scale or more.
        scale: Above zero.
        cluster: With one node or more.

    Raises:
        ValueError: If there are no measurements.
    """
    scales = {execution.scale for taken in measured.operations.values() for execution in taken}
    if not scales:
        raise ValueError("nothing was measured")
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
        # One node sends nothing, which does not tell what several would.
        sent = None if cluster.nodes > 1 else 0.0
    read = _cost_at(taken, "read_bytes", scale)
    seconds = {CPU: cpu_s * skew / (cluster.nodes * cluster.cores * cluster.utilisation)}
    if sent is not None:
        seconds[NETWORK] = sent * skew / (cluster.nodes * cluster.network_bytes_per_s)
    if read is not None and fits is False:
        seconds[DISK] = read * skew / (cluster.nodes * cluster.disk_bytes_per_s)
    return SizedOperation(name, cpu_s, sent, read, seconds)


def _cost_at(taken: Sequence[Taken], what: str, scale: float) -> float | None:
    """Return a cost at a scale; None if no execution has it."""
    points = [(execution.round, execution.scale, getattr(execution, what)) for execution in taken]
    return _at([Point(*point) for point in points if point[2] is not None], scale)


def _carried(values: Iterable[tuple[float, float]], scale: float) -> float | None:
    return _at([Point(1, size, value) for size, value in values], scale)


def _memory(by_scale: Mapping[float, float], scale: float) -> float | None:
    """Memory of all nodes; None if no two sizes say that it grows.

    Else nothing tells what of it is there without any data.
    """
    law = power_law([Point(1, size, value) for size, value in by_scale.items()])
    grows = law is not None and law.exponent.value > 0
    return _carried(by_scale.items(), scale) if grows else None


def _at(points: Sequence[Point], scale: float) -> float | None:
    """Return a cost at a scale: by the law of several scales, else in proportion.

    A power that is fitted to small sizes carries their fixed costs along, and says too little far
    beyond them; a fixed part with one in proportion says too little of what grows faster.
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
    """Yield each node's resources, as far as an operation is bound by them."""

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
