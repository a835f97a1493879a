"""Types of a run's document on limits and changes to the host."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class LimitRow(TypedDict):
    """One limit of a control group, and its use by the engine."""

    name: Literal["cpu", "cpus", "read-iops", "write-iops", "read-rate", "write-rate", "memory"]
    asked: float
    """Requested limit in cores, CPUs, operations or bytes a second, or bytes."""
    effective: MeasuredValue
    """Limit as the kernel reported it after the measured part; null if it reported none."""
    used: MeasuredValue
    """Mean use of the limited resource over `seconds`, or maximum use of memory; null if not
    counted."""
    seconds: MeasuredValue
    """Seconds between the two readings of the limited resource's use."""
    felt: MeasuredValue
    """Share of periods in which the limit's CPU time ran out, or how often memory reached its
    limit; null for other limits."""
    binding: bool | None
    """Whether the limit slowed the engine; null if that is not known."""
    in_effect: bool
    """Whether the kernel reported the requested limit."""
    words: str


class SlowedSection(TypedDict):
    """Resources that were made slower for the engine by stopping it."""

    asked: dict[str, float]
    """Requested slowing factor by resource."""
    reached: dict[str, float] | None
    """Slowing factor by resource that was reached during the measured part; null if not known."""
    stopped_s: float | None
    """Seconds for which the engine was stopped during the measured part; null if not known."""


class HostChangeRow(TypedDict):
    """One file, device or directory of the host that was changed."""

    what: str
    path: str
    """Path of the changed file, device or directory."""
    before: str | None
    asked: str | None
    effective: str | None
    """Value that was read back after the change; null without one."""
    restored: bool
    """Whether the run reverted the change itself. A guardian process reverts it for a killed
    run."""


class ChangesSection(TypedDict):
    """Limits of the engine, and changes to the host, in one run."""

    version: int | None
    """Version of the kernel's control groups; null if nothing was limited."""
    device: str | None
    """The device to which disk limits apply; null without disk limits."""
    limits: list[LimitRow]
    notes: list[str]
    oom_kills: int | None
    """Number of engine processes that the kernel killed for lack of memory; null if not counted."""
    slowed: SlowedSection | None
    """Resources that were made slower by stopping the engine; null without any."""
    host: list[HostChangeRow]
