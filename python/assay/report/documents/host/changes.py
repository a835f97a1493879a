"""Limits and changes to the host in the document of a run."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue


class LimitRow(TypedDict):
    """One limit of a control group, and what was used of it."""

    name: Literal["cpu", "cpus", "read-iops", "write-iops", "read-rate", "write-rate", "memory"]
    asked: float
    """Cores, CPUs, operations or bytes a second, or bytes."""
    effective: MeasuredValue
    """As the kernel told it when the measured part was over; null: it told none."""
    used: MeasuredValue
    """The mean over `seconds`, of memory the most; null: not counted."""
    seconds: MeasuredValue
    """Between the two readings of what was used."""
    felt: MeasuredValue
    """Share of periods in which CPU time had run out, or how often memory met its limit; null of
    others."""
    binding: bool | None
    """Whether it held the engine back; null: that cannot be said."""
    in_effect: bool
    """Whether the kernel told what was asked for."""
    words: str


class SlowedSection(TypedDict):
    """Resources that were made slower by stopping the engine."""

    asked: dict[str, float]
    """Factor by resource."""
    reached: dict[str, float] | None
    """Factor by resource while the measured part lasted; null: not known."""
    stopped_s: float | None
    """How long the engine stood still in it; null: not known."""


class HostChangeRow(TypedDict):
    """One file, device or directory of the host that was changed."""

    what: str
    path: str
    """The file, device or directory."""
    before: str | None
    asked: str | None
    effective: str | None
    """As it was read back."""
    restored: bool
    """Whether the run put it back itself; a guardian does it for a killed one."""


class ChangesSection(TypedDict):
    """Limits of the engine, and changes to the host."""

    version: int | None
    """Of the control groups; null: nothing was limited."""
    device: str | None
    """The device that limits of disks are of."""
    limits: list[LimitRow]
    notes: list[str]
    oom_kills: int | None
    """Processes of the engine that were killed for want of memory; null: not counted."""
    slowed: SlowedSection | None
    """What was made slower for the engine by stopping it; null: nothing was."""
    host: list[HostChangeRow]
