"""Why an article's figures differ from ours, as far as both say how they were measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.analysis.figures.quantities import listed, text
from assay.analysis.summarise import cpus_allowed
from assay.model.units import bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.figures.contract import StudyRun
    from assay.analysis.published.facts import Conditions

SCALE, CORES, ENGINE, STREAMS, STORAGE = "scale", "cores", "engine", "streams", "storage"
WORKLOAD = "workload"
# What decides about each kind of figure; of others all is told.
DECIDES = {
    "profile": (ENGINE, SCALE),
    "utilisation": (CORES, STREAMS, SCALE),
    "memory": (ENGINE, SCALE, STREAMS),
    "states": (STORAGE, SCALE, ENGINE),
    "first_run": (ENGINE, SCALE, STORAGE),
    "gains": (ENGINE, SCALE),
    "operations": (SCALE, CORES, ENGINE),
    "series": (STORAGE, SCALE, ENGINE),
    "roofline": (STORAGE, ENGINE),
    "verdict": (STORAGE, ENGINE),
}
SAME_WITHIN = 1.05


@dataclass(frozen=True)
class Reason:
    """Something that differs between the article's measurement and ours.

    Attributes:
        topic: One of those of `DECIDES`.
        brief: In a few words.
        words: In whole sentences.
    """

    topic: str
    brief: str
    words: str


def reasons(conditions: Conditions, runs: Sequence[StudyRun]) -> tuple[Reason, ...]:
    """What differs between the article's measurement and these runs."""
    told = (
        _workload(conditions, runs),
        _scale(conditions, runs),
        _cores(conditions, runs),
        _engine(conditions, runs),
        _streams(conditions, runs),
        _storage(runs),
    )
    return tuple(one for one in told if one is not None)


def deciding(kind: str, conditions: Conditions, runs: Sequence[StudyRun]) -> str | None:
    """What of it matters for a kind of figure, in one sentence; None: nothing."""
    known = {one.topic: one.brief for one in reasons(conditions, runs)}
    topics = (WORKLOAD, *DECIDES[kind]) if kind in DECIDES else tuple(known)
    briefs = [known[topic] for topic in topics if topic in known]
    return f"What differs, too: {'; '.join(briefs)}." if briefs else None


def _workload(conditions: Conditions, runs: Sequence[StudyRun]) -> Reason | None:
    ours = {one.run.facts["workload"]["name"]: one.run.facts["workload"] for one in runs}
    theirs = conditions.workload
    if theirs is None or not ours or theirs in ours:
        return None
    here = listed([str(facts.get("title", name)) for name, facts in ours.items()])
    return Reason(
        WORKLOAD,
        f"{theirs} there, {here} here",
        f"The article's workload is {theirs}, ours {here}: these are other queries on other data,"
        " so its figures are no measure of ours.",
    )


def _scale(conditions: Conditions, runs: Sequence[StudyRun]) -> Reason | None:
    ours = _distinct(float(one.run.facts["request"]["scale"]) for one in runs)
    theirs = conditions.scale
    if theirs is None or not ours or ours == [theirs]:
        return None
    here, times = listed([f"{one:g}" for one in ours]), theirs / max(ours)
    if times <= SAME_WITHIN:
        words = f"The scale is {here} here, and {theirs:g} in the article."
        return Reason(SCALE, f"scale {theirs:g} there, {here} here", words)
    return Reason(
        SCALE,
        f"its data are {text(times, 'times')} ours",
        f"The article's data are {text(times, 'times')} ours (scale {theirs:g}, here {here}): what"
        " a query costs whatever the data, such as its plan, weighs more here, and more of the data"
        " fits into the caches of a processor.",
    )


def _cores(conditions: Conditions, runs: Sequence[StudyRun]) -> Reason | None:
    ours = _distinct(float(count) for one in runs if (count := cpus_allowed(one.run)))
    theirs = conditions.cores
    if theirs is None or not ours or ours == [float(theirs)]:
        return None
    here = listed([f"{one:g}" for one in ours])
    return Reason(
        CORES,
        f"{theirs} hardware threads there, {here} here",
        f"The article's engine had {theirs} hardware threads, ours {here}: with fewer, one stream"
        " leaves less of the machine unused, and streams get into each other's way sooner.",
    )


def _engine(conditions: Conditions, runs: Sequence[StudyRun]) -> Reason | None:
    ours: dict[str, str] = {}
    for one in runs:
        engine = one.run.facts["engine"]
        ours[engine["name"]] = f"{engine.get('title', engine['name'])} {engine['version']}"
    title = conditions.engine_title or conditions.engine
    if conditions.engine is None or title is None:
        return None
    others = [words for name, words in ours.items() if name != conditions.engine]
    same = ours.get(conditions.engine)
    parts = [f"The article measured {title}"]
    if same is not None:
        parts.append(f"here its version is {same}")
    if others:
        are = "are other engines" if len(others) > 1 else "is another engine"
        parts.append(f"{listed(others)} {are}, with plans and functions of their own")
    brief = f"{title} there, {listed(list(ours.values()))} here"
    return Reason(ENGINE, brief, f"{'; '.join(parts)}.")


def _streams(conditions: Conditions, runs: Sequence[StudyRun]) -> Reason | None:
    tests = [one.run.facts.get("test") or {} for one in runs]
    ours = _distinct(float(test["streams"]) for test in tests if test.get("streams"))
    theirs = conditions.streams
    if theirs is None or not ours or ours == [float(theirs)]:
        return None
    here = listed([f"{one:g}" for one in ours])
    brief = f"{theirs} streams there, {here} here"
    return Reason(STREAMS, brief, f"The article played {theirs} streams, here it was {here}.")


def _storage(runs: Sequence[StudyRun]) -> Reason | None:
    hosts: list[dict[str, Any]] = [one.run.environment.get("host", {}) for one in runs]
    host = next((one for one in hosts if one), None)
    if host is None:
        return None
    kind = (host.get("data_filesystem") or {}).get("type") or "a file system that was not told"
    is_virtual = bool((host.get("cpu") or {}).get("virtual"))
    disk = f"{'a virtual disk' if is_virtual else 'a disk'} ({kind})"
    words = f"Here the data lie on {disk} of a host with {bytes_text(host.get('memory_bytes'))}"
    fast = "; a virtual disk that its host has in memory is read faster than an SSD"
    return Reason(STORAGE, f"{disk} here", f"{words} of memory{fast if is_virtual else ''}.")


def _distinct(values: Iterator[float]) -> list[float]:
    return sorted(set(values))
