"""Interfaces of engines whose logs and counters `assay capture` can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from assay.model.captured import Counted, Grammar, ReadLog


@runtime_checkable
class ReadsLogs(Protocol):
    """Interface of an engine whose servers write logs that Assay can read."""

    def read_logs(self, files: Sequence[Path]) -> ReadLog | None:
        """Return the statements in a server's log files; None if they are not this engine's.

        Raises:
            EngineError: If a file begins as a log of this engine and cannot be read.
        """
        ...

    def constants(self) -> Grammar:
        """Return the syntax of constants in the engine's statements."""
        ...


@runtime_checkable
class CountsStatements(Protocol):
    """Interface of an engine whose servers count the executions of each statement."""

    def count_statements(self, dsn: str, seconds: float, sleep: Callable[[float], None]) -> Counted:
        """Return the statements of the next seconds, from counters and samples of sessions.

        Raises:
            EngineError: If the server cannot be reached, or its counters cannot be read.
        """
        ...

    def constants(self) -> Grammar:
        """Return the syntax of constants in the engine's statements."""
        ...
