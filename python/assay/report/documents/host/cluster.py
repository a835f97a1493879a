"""Types of a run's document on the nodes of a cluster."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue

NodeFigure = Literal["messages_per_s", "bytes_per_s", "waiting_share"]


class ClusterMember(TypedDict):
    """A node of the cluster and its host."""

    name: str
    role: str
    host: str
    is_here: bool
    """Whether the node runs on this host, so that this host's kernel counts its CPU time."""


class ClusterInterval(TypedDict):
    """Work of the nodes between two readings of their counters."""

    begun_s: float
    """Start of the interval, in seconds since the measured part began."""
    ended_s: float
    seconds: float
    """Length of the interval in seconds."""
    whole: NodeWork
    nodes: list[NodeWork]


class BarrierRow(TypedDict):
    """One trough of CPU use in which most cluster nodes waited for the others."""

    operation: str
    begun_s: float
    ended_s: float
    cores: float
    """Number of busy cores of all nodes in the trough."""
    peak_cores: float
    """Number of busy cores of all nodes before and after the trough."""
    lost_s: float


class BarriersSection(TypedDict):
    """Troughs of all cluster nodes' CPU use between peaks of full load."""

    missing: str | None
    """Reason why barriers could not be found; null if they could."""
    platform_cores: MeasuredValue
    lost_share: MeasuredValue
    """Share of time lost at barriers, for executions that were long enough to measure; null without
    any such execution."""
    operations: dict[str, float]
    """Share of time lost at barriers, by operation; under a load there is a single entry without a
    name."""
    too_short: list[str]
    """Operations whose executions were all too short to find barriers."""
    count: int
    found: list[BarrierRow]
    """The most expensive troughs in the order of time, at most 100."""


class NodeWork(TypedDict):
    """The work of one cluster node in a time span, or of all nodes together.

    A rate, share or amount that was not counted is null.
    """

    name: str
    role: str
    """Role of the node: coordinator, worker, both, or later for a node that is known only by its
    counters; empty for all nodes together."""
    text: str
    """The node's figures as one line of text, with four significant digits and suffixes for powers
    of 1000. KB are 1024 bytes."""
    cpu_by: list[Literal["kernel", "engine"]]
    """Source of the node's CPU time: the kernel or the engine."""
    messages_per_s: MeasuredValue
    """Messages a second received from other nodes."""
    bytes_per_s: MeasuredValue
    """Bytes a second of the messages received from other nodes."""
    rows_per_s: MeasuredValue
    """Rows a second in the messages received from other nodes."""
    local_messages_per_s: MeasuredValue
    """Messages a second passed within the node."""
    local_bytes_per_s: MeasuredValue
    """Bytes a second of the messages passed within the node."""
    read_bytes_per_s: MeasuredValue
    """Bytes of data a second that the node read."""
    cpu_cores: MeasuredValue
    """CPU seconds of the node per second: 1 is 100 % of one core."""
    waiting_share: MeasuredValue
    """Share of task time spent waiting for data from other nodes, or for other nodes to accept
    data."""
    wait_share: MeasuredValue
    """Share of task time spent waiting for data from other nodes."""
    blocked_share: MeasuredValue
    """Share of task time spent waiting until other nodes accept data."""
    scheduling_share: MeasuredValue
    """Share of scheduling in the sum of scheduling and task time, including the wait for
    scheduling."""
    bytes_a_message: MeasuredValue
    """Mean length in bytes of messages from other nodes."""
    memory_bytes: MeasuredValue
    """Memory of the node in bytes, by the engine's gauge, or else resident memory by the kernel."""


class NodeSkew(TypedDict):
    """The skew of one measure among the working cluster nodes: largest value over mean."""

    measure: str
    node: str
    """Name of the node with the largest value of the measure."""
    largest: float
    mean: float
    unit: Literal["s", "bytes", "rows"]
    often: float
    """Share of executions in which this node had the largest value of the measure; 1 for the
    measured part."""
    ratio: float
    """Largest value of the measure divided by the mean; for an operation the median over its
    executions."""
    is_skewed: bool
    """Whether the largest value is at least 1.25 times the mean."""


class ClusterSpan(TypedDict):
    """The work of all cluster nodes in a time span, and how it is spread over them."""

    seconds: float
    """Length of the span in seconds."""
    whole: NodeWork
    nodes: list[NodeWork]
    skew: list[NodeSkew]
    """Measures that are comparable between the working nodes; empty for fewer than two nodes."""


class ClusterOperation(TypedDict):
    """The work of cluster nodes in one execution of an operation."""

    name: str
    seconds: float
    """Length of the execution in seconds."""
    whole: NodeWork
    nodes: list[NodeWork]
    skew: list[NodeSkew]
    """Measures that are comparable between the working nodes; empty for fewer than two nodes."""


class ClusterSection(TypedDict):
    """The nodes of a cluster, and the work of each one."""

    title: str
    """Title of the engine's kind of node."""
    nodes: list[ClusterMember]
    platform_cores: MeasuredValue
    """Number of cores that all nodes may use; null if some nodes are on other hosts."""
    says: dict[str, str]
    """Description of each measure of the nodes' work."""
    missing: dict[str, str]
    """Reason why a measure was not counted, by measure."""
    notes: list[str]
    run: ClusterSpan | None
    """Work of the nodes in the measured part, from the last reading before it to the first after
    it; null if the measured part has no end."""
    intervals: list[ClusterInterval]
    """Work of the nodes between readings of their counters, at most 300 intervals."""
    operations: list[ClusterOperation]
    """Work of the nodes in one execution of each operation, as medians; empty under a load."""
    barriers: BarriersSection
    series: dict[str, list[float]]
    """Busy cores of each node on this host between samples, and time_s, the ends of the intervals;
    at most 1500 points."""
