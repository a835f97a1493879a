"""Conditions of a run in its document, and the host it ran on."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue

DurabilityLevel = Literal["full", "relaxed", "none"]


class FleetSection(TypedDict):
    """The hosts that drove a load together."""

    hosts: int
    """How many began."""
    lost: int
    """How many of them were gone before they had told all."""
    clock_uncertainty_s: MeasuredValue
    """By how much moments of one may be off on the run's clock; null: a clock was not measured."""
    engine_host: str | None
    """The agent whose host the samples are of, as the engine's is another one than the run's; null:
    they are of the run's."""


class WritesSection(TypedDict):
    """Leave to write into tables of a server or a file that are not Assay's."""

    leave: Literal["read only", "rolled back", "allowed"]
    """Rolled back: each operation was played between begin and rollback, both in its latency."""
    server_told: str | None
    """How the server was told to refuse writes; null: it was not, or cannot be."""
    by_transaction: bool
    """Whether it was told at the beginning of a transaction around each operation, as a pooler
    keeps no setting; its begin and rollback are in the latency."""
    kept: list[str]
    """What a rollback does not take back, as `operation: reason`."""


class ConditionsSection(TypedDict):
    """State and load under which it was measured."""

    arrival: str | None
    """Shape of the load in the measured part, power, closed or open."""
    clients: int | None
    """Sessions at work at once; null in the power order."""
    rate_per_s: MeasuredValue
    """Operations a second that became due; null but for an open load."""
    time_s: MeasuredValue
    """How long operations became due; null in the power order."""
    killed: bool
    """Whether the engine was killed then."""
    state: str | None
    """What was in memory at the start, in words; null: the record does not tell."""
    parameters: str
    """default, or drawn from the seed."""
    seed: int
    min_time_s: float
    """Passes were repeated until this much was measured."""
    probe_interval_s: float
    """Time between two samples of a probe."""
    sorted_by: dict[str, list[str]]
    """By table: the columns by which its rows were sorted before they were loaded."""
    load_order: list[str]
    """The order in which tables were loaded, one after another; empty: as suits the engine."""
    order_note: str | None
    """Whose rows lie in the order of their key however they are sorted before; null: nobody's, or
    nothing was sorted."""
    prepare: list[str]
    """Files of SQL that changed the loaded data before anything was timed."""
    operations: list[str]
    """The operations that were played of the workload's; empty: all."""
    remove: list[str]
    """Parts that queries were asked without; empty: they were asked whole."""
    without: list[str]
    """Techniques of the engine that were switched off; empty: none was."""
    durability: DurabilityLevel | None
    """What a commit survives; null: the engine has no levels, or its settings are of none."""
    think_time: bool
    """Whether clients waited around operations as people at terminals do."""
    foreign_keys: bool
    """Whether the data had the workload's foreign keys."""
    pipeline: bool
    """Whether statements that need no earlier answer were sent before it had come."""
    writes: WritesSection | None
    """Leave to write; null: all tables are Assay's, or the record is an older one."""
    pooled: bool
    """Whether a pooler between gave each transaction any of its connections."""
    as_recorded: MeasuredValue
    """How many times as fast as they were captured executions became due; null: at a rate, or as
    clients were free."""
    fleet: FleetSection | None
    """The hosts that drove together; null where one driver drove."""


class HostSection(TypedDict):
    """The machine in short; environment.json of the record has all."""

    cpus: int | None
    """CPUs that the run was allowed to use."""
    cpu_model: str | None
    virtual: bool | None
    """Whether it is a virtual machine."""
    memory_bytes: int | None
    kernel: str | None
    filesystem: str | None
    """Type of the file system under the data."""
