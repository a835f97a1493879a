"""Rules that say why a thread sleeps: by the kernel's facts, or by the engine's word.

The kernel tells a state, the function it sleeps in, the system call, and what a futex waits at. An
engine may tell more: what each of its processes waits for. A rule that matches every sleep explains
none and is refused.
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
# The machine whose numbers of system calls are taken where the record does not tell.
MACHINE = "x86_64"

Glob = Annotated[str, Field(min_length=1)]
State = Literal["S", "D", "T", "t", "I", "P"]


class RuleFacts(BaseModel):
    """`[[rules]]` of a `waits.toml`; see `Rule` for what the keys mean."""

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
    """`[[events]]` of a `waits.toml`; see `Event` for what the keys mean."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cause: str
    type: str = Field(min_length=1)
    events: tuple[Glob, ...] = ("*",)
    says: str = Field(min_length=1)


class FileFacts(BaseModel):
    """`waits.toml` as a whole; each rule is read for itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    calls: dict[str, dict[str, int]] = {}
    words_tell: tuple[str, ...] | None = None
    rules: tuple[dict[str, Any], ...] = ()
    events: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Sleep:
    """The kernel's facts of one sleep; None if absent.

    Attributes:
        state: State of the thread, as in `waits.arrows`.
        channel: Function of the kernel in which it sleeps.
        call: Number of the system call.
        comm: Name of the thread.
        at_rest: Whether threads of the process wait at this address between operations, too; None
            where it waits at no address.
        with_workers: Whether its process, or itself where the engine is one process, works together
            with others on one operation.
    """

    state: str
    channel: str | None
    call: int | None
    comm: str
    at_rest: bool | None
    with_workers: bool


@dataclass(frozen=True)
class Rule:
    """A rule on the kernel's facts of a sleep. Facts that it does not name may be anything.

    Attributes:
        cause: Of `analysis.causes`.
        states: Of the thread.
        channels: Globs on the function of the kernel.
        calls: Names of system calls.
        threads: Globs on the thread's name.
        at_rest: Whether its address must, or must not, be waited at between operations.
        with_workers: Whether its process must, or must not, work together with others.
        says: A sentence for readers.
        origin: Where the rule stands, such as `waits.toml, rule 3`.
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
    """One rule on the engine's own word for what a process waits for.

    Attributes:
        cause: Of `analysis.causes`.
        type: The engine's kind of wait, exactly.
        events: Globs on its name for it.
        says, origin: As of a rule.
    """

    cause: str
    type: str
    events: tuple[str, ...]
    says: str
    origin: str


@dataclass(frozen=True)
class WaitRules:
    """Rules in their order: the first that matches decides.

    Attributes:
        rules: On what the kernel tells.
        events: On the engine's words.
        calls: Numbers of system calls by machine and name.
        words_tell: Causes by the kernel of those sleeps that the engine's words may explain; None
            if they may explain all.
    """

    rules: tuple[Rule, ...] = ()
    events: tuple[Event, ...] = ()
    calls: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()
    words_tell: tuple[str, ...] | None = None

    def cause_of(self, sleep: Sleep, machine: str) -> str | None:
        """Return the cause of a sleep by the kernel's facts; None if no rule matches."""
        call = None if sleep.call is None else self._call_names(machine).get(sleep.call)
        return next((rule.cause for rule in self.rules if rule.matches(sleep, call)), None)

    def cause_of_event(self, kind: str, event: str) -> str | None:
        """The cause by the engine's words; None if no rule knows them."""
        fitting = (rule for rule in self.events if rule.type == kind)
        return next((rule.cause for rule in fitting if _matches_any(rule.events, event)), None)

    def _call_names(self, machine: str) -> dict[int, str]:
        by_machine = dict(self.calls)
        named = by_machine.get(machine, by_machine.get(MACHINE, ()))
        return {number: name for name, number in named}


def parse_waits(text: str, source: str) -> WaitRules:
    """Rules of a `waits.toml`.

    Raises:
        UsageError: If the text cannot be read or a rule is refused. The message has `source`,
            number and reason.
    """
    return waits_of(read_document(text, source), source)


def waits_of(document: Mapping[str, Any], source: str) -> WaitRules:
    """Rules of a `waits.toml` that was read already, as `run.json` keeps it.

    Raises:
        UsageError: As `parse_waits`.
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
    """Rules for what all engines stand on: the kernel."""
    text = files("assay.analysis.waits").joinpath(SHARED).read_text(encoding="utf-8")
    return parse_waits(text, SHARED)


def all_waits(engine: Mapping[str, Any] | None) -> WaitRules:
    """The engine's rules, as `run.json` keeps them, before those that all engines share.

    Raises:
        UsageError: As `parse_waits`.
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
                f"{origin}: system call {call!r} is not known; {suggestion(call, sorted(calls))}"
            )
    named = [glob for glob in facts.channels if not is_any(glob)]
    if len(named) < len(facts.channels) or any(map(is_any, facts.threads)):
        raise UsageError(f"{origin}: every name matches '*': leave the key out, or name some.")
    if not (facts.states or facts.channels or facts.calls or facts.at_rest):
        raise UsageError(
            f"{origin}: it would match every sleep: name states, channels or calls, or say"
            " at_rest = true."
        )
    return Rule(**facts.model_dump(), origin=origin)


def _event(entry: dict[str, Any], origin: str) -> Event:
    facts = validated(EventFacts, entry, origin)
    _check_cause(facts.cause, origin)
    return Event(**facts.model_dump(), origin=origin)


def _check_cause(cause: str, origin: str) -> None:
    if cause in SLEEPS:
        return
    if cause in {part.name for part in CAUSES}:
        raise UsageError(f"{origin}: {cause!r} is no cause of sleep; write one of {_listed()}.")
    raise UsageError(f"{origin}: cause {cause!r} is not known; {suggestion(cause, list(SLEEPS))}")


def _listed() -> str:
    return ", ".join(SLEEPS)


@cache
def _compiled(globs: tuple[str, ...]) -> re.Pattern[str]:
    return pattern(globs)


def _matches_any(globs: tuple[str, ...], name: str | None) -> bool:
    return name is not None and _compiled(globs).fullmatch(name) is not None
