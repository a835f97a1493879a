"""Starts sampler threads of the compiled core; each probe file names one kind of sampler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._core import Sampler
from assay.model.units import NS_PER_S
from assay.probes.contract import Cost

if TYPE_CHECKING:
    from assay.probes.contract import Target


# Seconds between rows of a cost stream.
FLUSH_INTERVAL_S = 1.0


class Sampled:
    """A probe whose samples are taken by a thread of the Rust core."""

    name: str
    cost: str
    stream: str
    look_interval_s: float | None = None  # time between samples, if not every sample has a row
    # Maximum share of a core; samples become rarer if they cost more.
    core_share_max: float

    def __init__(self) -> None:
        self._sampler: Sampler | None = None
        self._asked_ns = 0

    def applies(self, target: Target) -> bool:  # noqa: ARG002 - there always is a host
        """Return True, because every host has the sampled counters."""
        return True

    def followed(self, target: Target) -> list[tuple[int, str]]:  # noqa: ARG002 - most need none
        """Return the sampled processes with their accounts; empty for the whole host."""
        return []

    def start(self, target: Target) -> None:
        """Start the sampler thread, and wait for its first sample."""
        interval_ns = round((self.look_interval_s or target.interval_s) * NS_PER_S)
        self._asked_ns = interval_ns
        self._sampler = Sampler(
            self.name,
            target.raw_dir,
            interval_ns,
            self.followed(target),
            core_share_max=self.core_share_max,
        )

    def stop(self) -> Cost:
        """Take a last sample and end the sampler thread."""
        if self._sampler is None:
            raise RuntimeError(f"probe {self.name} was stopped before it was started")
        report = self._sampler.stop()
        self._sampler = None
        return Cost(
            report["samples"],
            report["cpu_ns"],
            report["longest_ns"],
            report["error"],
            interval_s=self._interval_s(report["interval_ns"]),
            look_interval_s=self.look_interval_s,
            notes=tuple(report["notes"]),
        )

    def _interval_s(self, longest_ns: int) -> float | None:
        """Return the seconds between rows, if samples became rarer than the run's interval."""
        if self.look_interval_s is not None:
            return FLUSH_INTERVAL_S
        return longest_ns / NS_PER_S if longest_ns > self._asked_ns else None
