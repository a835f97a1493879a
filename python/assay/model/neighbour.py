"""A program beside the run on the same host, and what it used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Neighbour:
    """Processes of one name that are neither the engine nor the load generator.

    Attributes:
        name: Name of the processes, as the kernel cuts it.
        pids: The processes that used something, smallest first.
        cpu_s: CPU seconds in the measured part.
        moved_bytes: What they fetched from storage and wrote to it; None: not ours to read.
    """

    name: str
    pids: tuple[int, ...]
    cpu_s: float
    moved_bytes: float | None = None

    @property
    def text(self) -> str:
        """Name and processes, as people read them."""
        if len(self.pids) == 1:
            return f"{self.name} (process {self.pids[0]})"
        first = ", ".join(map(str, self.pids[:3]))
        more = ", ..." if len(self.pids) > 3 else ""  # noqa: PLR2004 - so many are told
        return f"{self.name} ({len(self.pids)} processes: {first}{more})"
