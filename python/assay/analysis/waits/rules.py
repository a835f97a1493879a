"""Rules for the causes of threads' sleep: by the kernel's facts, or by the engine's wait event.

The kernel reports a state, the kernel function, the system call, and the address of a futex. An
engine may also report a wait event for each of its processes. A rule that matches every sleep
explains none, and is rejected.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from assay.analysis.causes import CAUSES, SLEEPS
from assay.analysis.work.globs import is_any, pattern
from assay.analysis.work.rule_files import read_document, validated
from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

SHARED = "common.toml"
# Machine type whose system call numbers are used if the record does not contain the type.
MACHINE = "x86_64"
LOCK = "lock"

Glob = Annotated[str, Field(min_length=1)]
State = Literal["S", "D", "T", "t", "I", "P"]


class RuleFacts(BaseModel):
    """One entry of `[[rules]]` in a `waits.toml`; `Rule` explains the keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cause: str
    states: tuple[State, ...] = ()
    channels: tuple[Glob, ...] = ()
    calls: tuple[str, ...] = ()
    threads: tuple[Glob, ...] = ()
    at_rest: bool | None = None
    with_workers: bool | None = None
    says: str = Field(min_length=1)


class EventFacts(BaseModel):
    """One entry of `[[events]]` in a `waits.toml`; `Event` explains the keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cause: str
    type: str = Field(min_length=1)
    events: tuple[Glob, ...] = ("*",)
    asleep: tuple[str, ...] = ()
    says: str = Field(min_length=1)


class FileFacts(BaseModel):
    """The whole content of a `waits.toml`; each rule is parsed separately."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    calls: dict[str, dict[str, int]] = {}
    words_tell: tuple[str, ...] | None = None
    rules: tuple[dict[str, Any], ...] = ()
    events: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Sleep:
    """Facts from the kernel's scheduler about one thread's sleep; None if absent.

    Attributes:
        state: State of the thread, as in `waits.arrows`.
        channel: Kernel function in which the thread sleeps.
        call: Number of the system call.
        comm: Name of the thread.
        at_rest: Whether threads of the process wait at this address between operations, too;
            None if the thread waits at no address.
        with_workers: Whether the process works together with others on one operation; in an
            engine of one process, the thread.
    """

    state: str
    channel: str | None
    call: int | None
    comm: str
    at_rest: bool | None
    with_workers: bool


@dataclass(frozen=True)
class Rule:
    """A rule that names the cause of a sleep from kernel facts.

    Facts that the rule does not name may have any value.

    Attributes:
        cause: Name of a cause in `analysis.causes`.
        states: States of the thread.
        channels: Globs for the kernel function.
        calls: Names of system calls.
        threads: Globs for the thread's name.
        at_rest: Whether threads must, or must not, wait at its address between operations.
        with_workers: Whether the process must, or must not, work together with others.
        says: A sentence for readers.
        origin: Location of the rule, such as `waits.toml, rule 3`.
    """

    cause: str
    states: tuple[str, ...]
    channels: tuple[str, ...]
    calls: tuple[str, ...]
    threads: tuple[str, ...]
    at_rest: bool | None
    with_workers: bool | None
    says: str
    origin: str

    def matches(self, sleep: Sleep, call: str | None) -> bool:
        """Return True if a sleep fits the rule; `call` is the name of its system call."""
        return (
            (not self.states or sleep.state in self.states)
            and (not self.channels or _matches_any(self.channels, sleep.channel))
            and (not self.calls or call in self.calls)
            and (not self.threads or _matches_any(self.threads, sleep.comm))
            and (self.at_rest is None or self.at_rest == sleep.at_rest)
            and self.with_workers in (None, sleep.with_workers)
        )


@dataclass(frozen=True)
class Event:
    """A rule that names the cause of a wait event of the engine.

    Attributes:
        cause: Name of a cause in `analysis.causes`.
        type: The engine's type of wait event, exactly.
        events: Globs for the name of the wait event.
        asleep: Kernel causes of the sleeps to which the rule applies; empty means every sleep. Such
            a rule concerns an event that a session has while it runs, too, so without the kernel's
            cause it names nothing.
        says, origin: As in `Rule`.
    """

    cause: str
    type: str
    events: tuple[str, ...]
    asleep: tuple[str, ...]
    says: str
    origin: str


@dataclass(frozen=True)
class WaitRules:
    """Wait rules in their order; the first matching rule decides.

    Attributes:
        rules: Rules on the kernel's facts.
        events: Rules on the engine's wait events.
        calls: Numbers of system calls by machine and name.
        words_tell: Kernel causes of sleeps that wait events may explain in more detail. None
            means all causes.
    """

    rules: tuple[Rule, ...] = ()
    events: tuple[Event, ...] = ()
    calls: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()
    words_tell: tuple[str, ...] | None = None

    def cause_of(self, sleep: Sleep, machine: str) -> str | None:
        """Return the cause of a sleep by the kernel's facts; None if no rule matches."""
        call = None if sleep.call is None else self._call_names(machine).get(sleep.call)
        return next((rule.cause for rule in self.rules if rule.matches(sleep, call)), None)

    def cause_of_event(self, kind: str, event: str, by_kernel: str | None = None) -> str | None:
        """Return the cause of a wait event; None if no rule matches.

        Args:
            kind: The engine's type of wait event.
            event: Name of the wait event.
            by_kernel: The kernel's cause of the sleep; None if the thread is not known to sleep.
        """
        fitting = (
            rule
            for rule in self.events
            if rule.type == kind and (not rule.asleep or by_kernel in rule.asleep)
        )
        return next((rule.cause for rule in fitting if _matches_any(rule.events, event)), None)

    @property
    def confirms_locks(self) -> bool:
        """Return True if the engine reports the sessions that wait for a lock.

        A sleep that only the kernel takes for a lock wait may then be another wait.
        """
        return any(rule.cause == LOCK for rule in self.events)

    def _call_names(self, machine: str) -> dict[int, str]:
        by_machine = dict(self.calls)
        named = by_machine.get(machine, by_machine.get(MACHINE, ()))
        return {number: name for name, number in named}


def parse_waits(text: str, source: str) -> WaitRules:
    """Parse the rules of a `waits.toml`, which name the causes of threads' sleeps.

    Raises:
        UsageError: If the text cannot be read or a rule is invalid. The message contains
            `source`, the rule's number and the reason.
    """
    return waits_of(read_document(text, source), source)


def waits_of(document: Mapping[str, Any], source: str) -> WaitRules:
    """Return the rules of a parsed `waits.toml`, in the form stored in `run.json`.

    Raises:
        UsageError: If a rule is invalid, as in `parse_waits`.
    """
    facts = validated(FileFacts, document, source)
    named = {name for calls in facts.calls.values() for name in calls} | _shared_calls(source)
    rules = [
        _rule(entry, f"{source}, rule {at}", named) for at, entry in enumerate(facts.rules, start=1)
    ]
    events = [_event(entry, f"{source}, event {at}") for at, entry in enumerate(facts.events, 1)]
    calls = tuple((machine, tuple(numbers.items())) for machine, numbers in facts.calls.items())
    for cause in facts.words_tell or ():
        _check_cause(cause, f"{source}, words_tell")
    return WaitRules(tuple(rules), tuple(events), calls, facts.words_tell)


@cache
def shared_waits() -> WaitRules:
    """Return the rules that all engines share, on the kernel's facts."""
    text = files("assay.analysis.waits").joinpath(SHARED).read_text(encoding="utf-8")
    return parse_waits(text, SHARED)


def all_waits(engine: Mapping[str, Any] | None) -> WaitRules:
    """Return the engine's rules from `run.json`, followed by the shared rules.

    Raises:
        UsageError: If a rule is invalid, as in `parse_waits`.
    """
    own = WaitRules() if engine is None else waits_of(engine, "engine.waits of run.json")
    shared = shared_waits()
    events = own.events + shared.events
    return WaitRules(own.rules + shared.rules, events, shared.calls, own.words_tell)


def _shared_calls(source: str) -> set[str]:
    if source == SHARED:
        return set()
    return {name for _, numbers in shared_waits().calls for name, _ in numbers}


def _rule(entry: dict[str, Any], origin: str, calls: set[str]) -> Rule:
    facts = validated(RuleFacts, entry, origin)
    _check_cause(facts.cause, origin)
    for call in facts.calls:
        if call not in calls:
            raise UsageError(
                f"{origin}: unknown system call {call!r}; {suggestion(call, sorted(calls))}"
            )
    named = [glob for glob in facts.channels if not is_any(glob)]
    if len(named) < len(facts.channels) or any(map(is_any, facts.threads)):
        raise UsageError(
            f"{origin}: '*' matches every name: remove the key, or write more specific names."
        )
    if not (facts.states or facts.channels or facts.calls or facts.at_rest):
        raise UsageError(
            f"{origin}: the rule would match every sleep: name states, channels or calls, or "
            "write at_rest = true."
        )
    return Rule(**facts.model_dump(), origin=origin)


def _event(entry: dict[str, Any], origin: str) -> Event:
    facts = validated(EventFacts, entry, origin)
    for cause in (facts.cause, *facts.asleep):
        _check_cause(cause, origin)
    return Event(**facts.model_dump(), origin=origin)


def _check_cause(cause: str, origin: str) -> None:
    if cause in SLEEPS:
        return
    if cause in {part.name for part in CAUSES}:
        raise UsageError(f"{origin}: {cause!r} is not a cause of sleep; write one of {_listed()}.")
    raise UsageError(f"{origin}: unknown cause {cause!r}; {suggestion(cause, list(SLEEPS))}")


def _listed() -> str:
    return ", ".join(SLEEPS)


@cache
def _compiled(globs: tuple[str, ...]) -> re.Pattern[str]:
    return pattern(globs)


def _matches_any(globs: tuple[str, ...], name: str | None) -> bool:
    return name is not None and _compiled(globs).fullmatch(name) is not None
