"""Type for another program on the host, and the resources that it used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Neighbour:
    """Processes of one name that are neither the engine nor the load generator.

    Attributes:
        name: Name of the processes, cut to the kernel's length.
        pids: Ids of the processes that used CPU or storage, smallest first.
        cpu_s: CPU seconds in the measured part.
        moved_bytes: Bytes that they read from storage and wrote to it; None means that the counters
            could not be read for lack of permission.
    """

    name: str
    pids: tuple[int, ...]
    cpu_s: float
    moved_bytes: float | None = None

    @property
    def text(self) -> str:
        """Return name and process ids as text for readers."""
        if len(self.pids) == 1:
            return f"{self.name} (process {self.pids[0]})"
        first = ", ".join(map(str, self.pids[:3]))
        more = ", ..." if len(self.pids) > 3 else ""  # noqa: PLR2004 - so many are told
        return f"{self.name} ({len(self.pids)} processes: {first}{more})"
