"""Types of a run's document on its conditions and its host."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue

DurabilityLevel = Literal["full", "relaxed", "none"]


class FleetSection(TypedDict):
    """The client hosts that drove a load together."""

    hosts: int
    """Number of hosts that drove the load at its start."""
    lost: int
    """Number of hosts that were lost before they had sent all results."""
    clock_uncertainty_s: MeasuredValue
    """Maximum error of a host's timestamps on the run's clock; null if a clock was not measured."""
    engine_host: str | None
    """The agent on the engine's host, where the samples were taken; null if they were taken on the
    run's host."""


class ChosenServerRow(TypedDict):
    """One of the servers that a DSN with several servers led to."""

    server: str
    """Address and port, or the file of a Unix socket."""
    sessions: int
    """Number of sessions that were connected to the server at some time."""
    connections: int
    """Number of connections of sessions, including new ones after a loss."""
    since_s: NotRequired[float | None]
    """Seconds from the start of the measured part until the first session went on with this server
    instead of another one; null if sessions chose it at first."""
    outage_s: NotRequired[float | None]
    """Longest time in seconds without a successful operation of any session, before or during the
    first operation on this server; null without `since_s`, or if none succeeded before."""


class WritesSection(TypedDict):
    """Permission to write to tables of a server or file that Assay did not create."""

    leave: Literal["read only", "rolled back", "allowed"]
    """Kind of permission to write. Rolled back: each operation was executed between begin and
    rollback, and its latency includes both."""
    server_told: str | None
    """Setting with which the server refused writes; null without such a setting."""
    by_transaction: bool
    """Whether the setting that refuses writes was made in a transaction around each operation,
    because a connection pooler keeps no session settings. Latency then includes begin and
    rollback."""
    kept: list[str]
    """Effects of operations that a rollback does not undo, as `operation: reason`."""


class ConditionsSection(TypedDict):
    """The cache state and the load under which a run was measured."""

    arrival: str | None
    """Arrival of operations in the measured part: power, closed or open."""
    clients: int | None
    """Number of concurrent sessions of the load; null in the power order."""
    rate_per_s: MeasuredValue
    """Operations a second that became due; null unless the load is open."""
    time_s: MeasuredValue
    """Seconds during which operations became due; null in the power order."""
    killed: bool
    """Whether the run killed the engine at the end of the load's time."""
    state: str | None
    """Description of the cached data at the start; null if not recorded."""
    parameters: str
    """Source of the queries' parameters: default, or drawn from the seed."""
    seed: int
    min_time_s: float
    """Minimum number of measured seconds, for which passes were repeated."""
    probe_interval_s: float
    """Seconds between two samples of a probe."""
    sorted_by: dict[str, list[str]]
    """Columns by which rows were sorted before loading, by table."""
    load_order: list[str]
    """The order in which tables were loaded; empty if the engine's default was used."""
    order_note: str | None
    """Note on tables that the engine stores in key order regardless of sorting; null without such
    tables, or if nothing was sorted."""
    prepare: list[str]
    """SQL files that changed the loaded data before anything was timed."""
    operations: list[str]
    """Operations of the workload that were executed; empty means all."""
    remove: list[str]
    """Parts that were removed from queries; empty if the queries were complete."""
    without: list[str]
    """Techniques of the engine that were switched off."""
    durability: DurabilityLevel | None
    """Failures that a commit survives; null if the engine has no durability levels, or its settings
    match none."""
    think_time: bool
    """Whether clients waited between operations like people at terminals."""
    foreign_keys: bool
    """Whether the tables had the workload's foreign keys."""
    pipeline: bool
    """Whether statements that do not depend on an earlier answer were sent before that answer
    arrived."""
    writes: WritesSection | None
    """Permission to write; null if all tables are Assay's, and in older records."""
    pooled: bool
    """Whether a connection pooler assigned a connection to each transaction."""
    as_recorded: MeasuredValue
    """Speed at which captured executions became due, as a multiple of the original speed; null for
    a rate, or for clients without pauses."""
    fleet: FleetSection | None
    """The hosts that drove the load together; null for a single driver."""
    servers: NotRequired[list[ChosenServerRow] | None]
    """Servers to which sessions were connected, in the order of their first use; null if the
    engine's sessions cannot choose among servers, and in older records."""


class HostSection(TypedDict):
    """Summary of the machine that a run used; the record's environment.json has all facts."""

    cpus: int | None
    """Number of CPUs that the run was allowed to use."""
    cpu_model: str | None
    virtual: bool | None
    """Whether the host is a virtual machine."""
    memory_bytes: int | None
    kernel: str | None
    filesystem: str | None
    """Type of the file system under the data."""
