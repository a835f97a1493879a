"""Interfaces of a probe, which samples one source while the load runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from assay.model.blocker import Blocked
    from assay.model.other_work import OtherWork
    from assay.model.watched import SessionLook


class CounterReader(Protocol):
    """Interface that reads an engine's own counters."""

    def read(self) -> list[tuple[str, str, str, float]]:
        """Return counters as rows of (source, object, counter, value) with totals.

        Raises `OSError`.
        """
        ...

    def close(self) -> None:
        """Close the connection that reads counters."""
        ...


class Activity(Protocol):
    """Interface of the current activity of one engine process.

    Attributes that are not known are None.
    """

    @property
    def pid(self) -> int:
        """Return the process id of the engine process."""
        ...

    @property
    def leader_pid(self) -> int | None:
        """Return the pid of the process for which a parallel worker works; None for others."""
        ...

    @property
    def backend_type(self) -> str:
        """Return the kind of engine process, in the engine's terms."""
        ...

    @property
    def application(self) -> str | None:
        """Return the application name of the client; None for a process without a client."""
        ...

    @property
    def state(self) -> str | None:
        """Return the session's state, in the engine's terms."""
        ...

    @property
    def wait_event_type(self) -> str | None:
        """Return the class of its wait event; None if it does not wait."""
        ...

    @property
    def wait_event(self) -> str | None:
        """Return the wait event that the process waits for."""
        ...

    @property
    def tid(self) -> int | None:
        """Return the thread id; None for the process as a whole."""
        ...

    @property
    def connection(self) -> int | None:
        """Return the engine's id of the connection that a thread serves; None without one."""
        ...


@runtime_checkable
class ActivityReader(Protocol):
    """Interface of counter readers that also report what each process does."""

    def activity(self) -> Sequence[Activity]:
        """Return the current activity of all processes of the engine.

        Raises `OSError`.
        """
        ...


@runtime_checkable
class BlockedReader(Protocol):
    """Interface of counter readers that also report sessions blocked by others."""

    def blocked(self) -> Sequence[Blocked]:
        """Return one entry for each pair of waiting and blocking session now.

        Raises `OSError`.

        `blocked` is called right after `activity` and may reuse the sample of that call.
        """
        ...


@runtime_checkable
class OtherWorkReader(Protocol):
    """Interface of counter readers that also report maintenance and old snapshots."""

    def other_work(self) -> Sequence[OtherWork]:
        """Return maintenance work in progress, and sessions with old snapshots.

        Raises `OSError`.

        `other_work` is called together with the counters.
        """
        ...


@runtime_checkable
class StatusReader(Protocol):
    """Interface of counter readers that also report the engine's complete status."""

    def status(self) -> tuple[list[tuple[str, str, str, float]], str]:
        """Return status counters, and the engine's complete status text.

        Raises `OSError`.
        """
        ...


@runtime_checkable
class CountsAnew(Protocol):
    """Interface of counter readers whose counts can be reset to 0."""

    def reset(self) -> None:
        """Reset the engine's own counters to 0.

        Raises `OSError`.
        """
        ...


class StatementReader(Protocol):
    """Interface that reads the statements which a server executes for other clients."""

    def looks(self) -> Sequence[SessionLook]:
        """Return sessions of other clients that execute a statement now."""
        ...

    def counts(self) -> list[tuple[str, Mapping[str, float]]]:
        """Return the total calls and times of each statement.

        Raises `OSError`.
        """
        ...


@dataclass(frozen=True)
class Target:
    """The processes, files and server that probes observe.

    Attributes:
        raw_dir: Directory for the probes' streams. Each probe has its own files in the directory.
        interval_s: Time between samples.
        followed: Processes to follow, each with the account that its use is charged to.
        counters: Reader of the engine's own counters; None if the engine has none.
        profile_hz: CPU samples per second of CPU time; None if not requested.
        block_trace: Whether every block request is traced.
        statements: Reader of a server's statements; None means Assay drives the load.
    """

    raw_dir: Path
    interval_s: float
    followed: tuple[tuple[int, str], ...]
    counters: CounterReader | None = None
    profile_hz: int | None = None
    block_trace: bool = False
    statements: StatementReader | None = None


@dataclass(frozen=True)
class Cost:
    """The cost of a probe: the number of samples and their CPU time.

    Attributes:
        error: Reason why the probe ended early.
        interval_s: Time between the samples of its stream, if it differs from the run's.
        look_interval_s: Time between two samples, if not every sample has a row in its stream.
        notes: Sentences on what the probe could not observe, and why.
    """

    samples: int
    cpu_ns: int
    longest_ns: int
    error: str | None = None
    interval_s: float | None = None
    look_interval_s: float | None = None
    notes: tuple[str, ...] = ()


class Probe(Protocol):
    """Interface of a probe, which observes one source while the load runs."""

    name: str
    cost: str
    stream: str  # stream whose times show when the probe took samples

    def applies(self, target: Target) -> bool:
        """Return True if the probe has something to observe."""
        ...

    def start(self, target: Target) -> None:
        """Start the probe; raises `OSError` with the path if it cannot."""
        ...

    def stop(self) -> Cost:
        """Stop the probe and return its cost."""
        ...


@runtime_checkable
class HearsMeasured(Protocol):
    """Interface of probes that take a sample when the measured part begins."""

    def measured(self) -> None:
        """Signal that the measured part has begun, without waiting for a sample."""
        ...


@runtime_checkable
class Refusing(Protocol):
    """Interface of probes that can be requested where they do not apply."""

    def refusal(self, target: Target) -> str | None:
        """Return why a requested probe cannot run, and the remedy; None if it can."""
        ...
