"""What a probe is: it starts, it stops, and it confesses what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Target:
    """What there is to observe.

    Attributes:
        raw_dir: Where streams are written; each probe owns its files.
        interval_s: Time between samples.
        followed: Processes to follow, with the account that each is charged to.
    """

    raw_dir: Path
    interval_s: float
    followed: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Cost:
    """What a probe did and took. `error`: why it ended early."""

    samples: int
    cpu_ns: int
    longest_ns: int
    error: str | None = None


class Probe(Protocol):
    """One observer."""

    name: str
    cost: str
    stream: str  # the one whose times show when it looked

    def start(self, target: Target) -> None:
        """Starts observing; raises `OSError` with the path if it cannot."""
        ...

    def stop(self) -> Cost:
        """Stops and tells what it cost."""
        ...
