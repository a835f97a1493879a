"""The door to the sampler threads of the compiled core; one probe file names one of its kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._core import Sampler
from assay.model.units import NS_PER_S
from assay.probes.contract import Cost

if TYPE_CHECKING:
    from assay.probes.contract import Target


class Sampled:
    """A probe whose work is done by a sampler thread."""

    name: str
    cost: str
    stream: str
    follows_processes = False

    def __init__(self) -> None:
        self._sampler: Sampler | None = None

    def applies(self, target: Target) -> bool:  # noqa: ARG002 - there always is a host
        """Always: every host has these counters."""
        return True

    def start(self, target: Target) -> None:
        """Starts the thread; the first sample is on disk when this returns."""
        followed = list(target.followed) if self.follows_processes else []
        interval_ns = round(target.interval_s * NS_PER_S)
        self._sampler = Sampler(self.name, target.raw_dir, interval_ns, followed)

    def stop(self) -> Cost:
        """Takes a last sample and ends the thread."""
        if self._sampler is None:
            raise RuntimeError(f"probe {self.name} was stopped before it was started")
        report = self._sampler.stop()
        self._sampler = None
        return Cost(**report)
