"""Supposed changes: the effect of each on one operation, and its assumption.

A change returns the operation after it, with a lower and an upper bound of the time by its
model. If the run lacks facts that the change needs, the operation stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from assay.analysis.causes import CAUSES, TITLES
from assay.analysis.whatif.cores import bounds_s, on_cores
from assay.analysis.whatif.timing import FOLLOW, ON_CPU, WANTS_CPU
from assay.model.errors import UsageError, suggestion
from assay.model.units import seconds_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.whatif.timing import Measured, TimedOperation

# Causes that can be removed. CPU time is removed by kind of work, and waits for others follow.
WAITS = tuple(c.name for c in CAUSES if c.name not in ON_CPU and c.name not in FOLLOW)

NO_WAITS = "causes of waiting are measured only if operations run one after another (no --clients)"


@dataclass(frozen=True)
class Changed:
    """One operation after a supposed change, with bounds of its time.

    Attributes:
        operation: The operation after the change.
        least_s, most_s: Lower and upper bound of the seconds by the model.
    """

    operation: TimedOperation
    least_s: float
    most_s: float


class SupposedChange(Protocol):
    """Interface of a supposed change, such as more cores or one faster operation."""

    @property
    def says(self) -> str:
        """The supposed change as a short text."""

    @property
    def assumption(self) -> str:
        """The assumption of the prediction as a sentence."""

    def check(self, measured: Measured) -> None:
        """Raise `UsageError` if the run lacks measurements that the supposed change needs."""

    def of(self, operation: TimedOperation, cores: int | None) -> Changed | None:
        """Return the operation after the supposed change; None if the run lacks needed facts."""


@dataclass(frozen=True)
class ScaleOperation:
    """A supposed change that multiplies an operation's time by a factor above 0."""

    name: str
    factor: float

    @property
    def says(self) -> str:
        """The supposed factor of an operation's time as a short text."""
        return f"{self.name} takes {self.factor:g} times as long"

    @property
    def assumption(self) -> str:
        """The assumption behind a factor of an operation's time, as a sentence."""
        return "Other operations take as long as before."

    def check(self, measured: Measured) -> None:
        """Raise `UsageError` for an unknown operation or an invalid factor."""
        _check_operation(self.name, measured)
        if not 0 < self.factor < float("inf"):
            raise UsageError(
                f"{self.name} cannot take {self.factor:g} times as long: name a factor above 0"
            )

    def of(self, operation: TimedOperation, cores: int | None) -> Changed | None:  # noqa: ARG002
        """Return the operation with its time multiplied by the supposed factor."""
        made = operation.scaled(self.factor if operation.name == self.name else 1.0)
        return Changed(made, made.seconds, made.seconds)


@dataclass(frozen=True)
class SetTime:
    """A supposed change that gives an operation a fixed time."""

    name: str
    seconds: float

    @property
    def says(self) -> str:
        """The supposed time of an operation as a short text."""
        return f"{self.name} takes {seconds_text(self.seconds)}"

    @property
    def assumption(self) -> str:
        """The assumption behind a fixed time of an operation, as a sentence."""
        return "Other operations take as long as before."

    def check(self, measured: Measured) -> None:
        """Raise `UsageError` for an unknown operation or an invalid time."""
        _check_operation(self.name, measured)
        if not 0 < self.seconds < float("inf"):
            raise UsageError(f"{self.name} cannot take {self.seconds:g} s: name a time above 0")

    def of(self, operation: TimedOperation, cores: int | None) -> Changed | None:  # noqa: ARG002
        """Return the operation with the supposed fixed time."""
        if operation.name != self.name:
            return Changed(operation, operation.seconds, operation.seconds)
        # If other changes left the operation no time, its threads' time cannot be scaled.
        taken = operation.seconds > 0
        made = operation.scaled(self.seconds / operation.seconds) if taken else operation
        return Changed(replace(made, seconds=self.seconds), self.seconds, self.seconds)


@dataclass(frozen=True)
class RemoveWork:
    """A supposed change that removes a kind of work, such as sorting."""

    work: str

    @property
    def says(self) -> str:
        """The removed kind of work as a short text."""
        return f"no {self.work}"

    @property
    def assumption(self) -> str:
        """The assumption behind removing a kind of work, as a sentence."""
        return (
            "The work's CPU time goes, and with it as large a share of the waiting for a CPU; it"
            " was spread over an operation's active threads like the rest of their time, and idle"
            " threads wait as much less."
        )

    def check(self, measured: Measured) -> None:
        """Raise `UsageError` for a kind of work without CPU samples."""
        if all(operation.work is None for operation in measured.operations):
            raise UsageError(
                f"the run {measured.run} has no CPU samples by operation: measure again with "
                "--profile"
            )
        if self.work not in measured.works:
            raise UsageError(
                f"no operation has CPU samples of the work {self.work!r}: "
                f"{suggestion(self.work, measured.works)}"
            )

    def of(self, operation: TimedOperation, cores: int | None) -> Changed | None:  # noqa: ARG002
        """Return the operation without a kind of work; None without samples or time by cause."""
        if operation.work is None or operation.thread_s is None:
            return None
        share = operation.work.get(self.work, 0.0)
        left = {name: operation.thread_s.get(name, 0.0) * (1 - share) for name in WANTS_CPU}
        works = {word: part for word, part in operation.work.items() if word != self.work}
        rest = sum(works.values())
        made = without(operation, left)
        kept = {word: part / rest for word, part in works.items()} if rest > 0 else {}
        return replace(made, operation=replace(made.operation, work=kept))


@dataclass(frozen=True)
class RemoveWait:
    """A supposed change that removes a cause of waiting, such as disk reads."""

    cause: str

    @property
    def says(self) -> str:
        """The removed cause of waiting as a short text."""
        return f"no time in: {TITLES.get(self.cause, self.cause)}"

    @property
    def assumption(self) -> str:
        """The assumption behind removing a cause of waiting, as a sentence."""
        return (
            "The waiting goes and nothing comes in its place; it was spread over an operation's"
            " active threads like the rest of their time, and idle threads wait as much less."
        )

    def check(self, measured: Measured) -> None:
        """Raise `UsageError` if the cause is not a wait, or was not measured."""
        if self.cause not in WAITS:
            raise UsageError(_no_such_wait(self.cause))
        split = [op.thread_s for op in measured.operations if op.thread_s is not None]
        if not split:
            raise UsageError(
                f"the time of the run {measured.run} is not split by cause: this needs passes "
                "in order (no --clients) and operations of a millisecond or more"
            )
        if not any(self.cause in parts for parts in split):
            titles = [TITLES[name] for name in WAITS if any(name in parts for parts in split)]
            raise UsageError(
                f"the run {measured.run} did not measure {TITLES[self.cause]!r}; "
                + (f"measured were: {', '.join(titles)}" if titles else NO_WAITS)
            )

    def of(self, operation: TimedOperation, cores: int | None) -> Changed | None:  # noqa: ARG002
        """Return the operation without a cause of waiting; None if it was not measured."""
        if operation.thread_s is None or self.cause not in operation.thread_s:
            return None
        return without(operation, {self.cause: 0.0})


@dataclass(frozen=True)
class SetCores:
    """A supposed change that gives the engine another number of cores."""

    cores: int

    @property
    def says(self) -> str:
        """The supposed number of cores as a short text."""
        return f"{self.cores} core{'s' if self.cores != 1 else ''}"

    @property
    def assumption(self) -> str:
        """The assumption behind another number of cores, as a sentence."""
        return (
            "Amdahl's law: time in which all threads at work want a CPU changes with the number"
            " that have one, all other time stays; there are as many threads as now (as many a core"
            " where they were as many as the cores), memory and caches keep up, and others compete"
            " for them as much as now."
        )

    def check(self, measured: Measured) -> None:
        """Raise `UsageError` for less than one core, or a run without a known number of cores."""
        if self.cores < 1:
            raise UsageError(f"an engine cannot run on {self.cores} cores: write 1 or more")
        if measured.cores is None:
            raise UsageError(f"run {measured.run} did not record how many CPUs it could use")
        if measured.clients is not None:
            raise UsageError(
                "under a load with clients, Assay cannot attribute waits for a CPU to "
                "operations: measure with --pin engine=... instead"
            )
        if measured.test is not None and measured.test.streams is not None:
            raise UsageError(
                "the effect of other cores on concurrent streams cannot be predicted: use a "
                "run with --test power"
            )
        if all(operation.thread_s is None for operation in measured.operations):
            raise UsageError(
                f"it is unknown how many cores the operations of run {measured.run} used, because "
                "their time is not split by cause: use a run with operations of 1 ms or more"
            )

    def of(self, operation: TimedOperation, cores: int | None) -> Changed | None:
        """Return the operation with another number of cores; None if its time is not split."""
        if operation.thread_s is None or cores is None:
            return None
        least_s, most_s = bounds_s(operation, cores, self.cores)
        return Changed(on_cores(operation, cores, self.cores), least_s, most_s)


def wait_named(text: str) -> str:
    """Return the internal name of a wait from its name or title, such as `disk read`."""
    by_title = {title.lower(): name for name, title in TITLES.items()}
    lowered = text.strip().lower()
    return by_title.get(lowered, lowered.replace(" ", "_"))


def without(operation: TimedOperation, left: Mapping[str, float]) -> Changed:
    """Return an operation after some of its thread-seconds are removed.

    The operation's time shrinks by their share of the active threads' time. In the best case all
    removed time was on the longest chain of steps, but the remaining work still needs its
    threads. In the worst case only the part on that chain counts that did not fit on the other
    threads.

    Args:
        operation: An operation whose time was split.
        left: Remaining thread-seconds of each cause that shrinks.
    """
    parts = dict(operation.thread_s or {})
    gone_s = sum(parts.get(name, 0.0) - seconds for name, seconds in left.items())
    active_s, seconds = operation.active_s, operation.seconds
    threads = max(1.0, operation.threads or 1.0)
    if active_s <= 0:
        return Changed(operation, 0.0, 0.0)
    factor = max(0.0, 1 - gone_s / active_s)
    most_s = seconds - max(0.0, gone_s - (threads - 1) * seconds)
    least_s = max(seconds - gone_s, (active_s - gone_s) / threads, 0.0)
    follow = {name: parts[name] * factor for name in FOLLOW if name in parts}
    kept = parts | {name: time for name, time in left.items() if name in parts} | follow
    made = replace(operation, seconds=seconds * factor, thread_s=kept)
    return Changed(made, min(least_s, made.seconds), max(most_s, made.seconds))


def _check_operation(name: str, measured: Measured) -> None:
    if name not in measured.names:
        raise UsageError(
            f"the run measured no operation {name!r}: {suggestion(name, measured.names)}"
        )


def _no_such_wait(cause: str) -> str:
    if cause in ON_CPU:
        return f"{TITLES[cause]} is no waiting: remove a kind of work with --remove-operation"
    if cause in FOLLOW:
        return (
            f"'{TITLES[cause]}' is no cause of its own, it follows from what the other threads do:"
            " remove what those wait for or work at"
        )
    return f"no wait {cause!r}: {suggestion(cause, [TITLES[name] for name in WAITS])}"
