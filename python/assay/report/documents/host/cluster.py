"""Nodes of a cluster in the document of a run."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue

NodeFigure = Literal["messages_per_s", "bytes_per_s", "waiting_share"]


class ClusterMember(TypedDict):
    """A node of the cluster and its place."""

    name: str
    role: str
    host: str
    is_here: bool
    """Whether this host's kernel counts for it."""


class ClusterInterval(TypedDict):
    """Work of the nodes between two readings of their counters."""

    begun_s: float
    """Since the measured part began."""
    ended_s: float
    seconds: float
    """Length of the span."""
    whole: NodeWork
    nodes: list[NodeWork]


class BarrierRow(TypedDict):
    """One trough in which nodes waited for each other."""

    operation: str
    begun_s: float
    ended_s: float
    cores: float
    """At work in it."""
    peak_cores: float
    """At work around it."""
    lost_s: float


class BarriersSection(TypedDict):
    """Troughs of all nodes' CPU time between peaks of the whole platform."""

    missing: str | None
    """Why they cannot be known."""
    platform_cores: MeasuredValue
    lost_share: MeasuredValue
    """Of the time of executions that were long enough to be looked at; null where none was."""
    operations: dict[str, float]
    """The same by operation; under a load all are one without a name."""
    too_short: list[str]
    """Operations whose executions were all too short."""
    count: int
    found: list[BarrierRow]
    """Those that cost most, at most 100, in the order of time."""


class NodeWork(TypedDict):
    """The work of one node in a span, or of all nodes together without a name.

    A rate, share or amount that was not counted is null.
    """

    name: str
    role: str
    """coordinator, worker, both, or later: known by its counters alone; empty of all together."""
    text: str
    """As a line, with four significant digits and the suffix of a power of 1000; KB are of 1024
    bytes."""
    cpu_by: list[Literal["kernel", "engine"]]
    """Who counted CPU time."""
    messages_per_s: MeasuredValue
    """Got from other nodes."""
    bytes_per_s: MeasuredValue
    """Of these messages."""
    rows_per_s: MeasuredValue
    """In these messages."""
    local_messages_per_s: MeasuredValue
    """Handed over within the node."""
    local_bytes_per_s: MeasuredValue
    """Of those."""
    read_bytes_per_s: MeasuredValue
    """Read of the data."""
    cpu_cores: MeasuredValue
    """CPU seconds a second: 1 is 100 % of one core."""
    waiting_share: MeasuredValue
    """Of the time of tasks: waiting for what other nodes send, and until they take what it has for
    them."""
    wait_share: MeasuredValue
    """The former alone."""
    blocked_share: MeasuredValue
    """The latter alone."""
    scheduling_share: MeasuredValue
    """Of itself and the time of tasks: deciding who works on what, and waiting for it."""
    bytes_a_message: MeasuredValue
    """Mean length of messages from other nodes."""
    memory_bytes: MeasuredValue
    """By the engine's gauge, else resident by the kernel."""


class NodeSkew(TypedDict):
    """The skew of one measure among nodes."""

    measure: str
    node: str
    """The one with most of it."""
    largest: float
    mean: float
    unit: Literal["s", "bytes", "rows"]
    often: float
    """In which share of executions it was that node; 1 of the measured part."""
    ratio: float
    """largest over mean; of executions of an operation the middle one."""
    is_skewed: bool
    """Whether that is 1.25 or more."""


class ClusterSpan(TypedDict):
    """Work of the nodes in a span, and how evenly they shared it."""

    seconds: float
    """Length of the span."""
    whole: NodeWork
    nodes: list[NodeWork]
    skew: list[NodeSkew]
    """Measures that can be compared between the nodes that work; empty of fewer than two."""


class ClusterOperation(TypedDict):
    """Work of the nodes in one execution of an operation."""

    name: str
    seconds: float
    """Length of the span."""
    whole: NodeWork
    nodes: list[NodeWork]
    skew: list[NodeSkew]
    """Measures that can be compared between the nodes that work; empty of fewer than two."""


class ClusterSection(TypedDict):
    """Nodes of a cluster, and what each did."""

    title: str
    """What nodes are."""
    nodes: list[ClusterMember]
    platform_cores: MeasuredValue
    """Cores that all nodes may use; null where some are on other hosts."""
    says: dict[str, str]
    """By word what exactly is counted."""
    missing: dict[str, str]
    """By word why it was not counted."""
    notes: list[str]
    run: ClusterSpan | None
    """Of the measured part, from the last reading before it to the first after it; null where it
    has no end."""
    intervals: list[ClusterInterval]
    """Between readings of the nodes' counters, at most 300."""
    operations: list[ClusterOperation]
    """One execution of each, medians; empty under a load."""
    barriers: BarriersSection
    series: dict[str, list[float]]
    """Cores of each node on this host between looks, and time_s, the ends of these; at most 1500
    points."""
