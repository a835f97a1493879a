"""Explains differences between a published article's values and a study's, by conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.analysis.quantities import listed, text
from assay.analysis.summarise import cpus_allowed
from assay.model.units import bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.published.facts import Conditions
    from assay.analysis.study_runs import StudyRun

SCALE, CORES, ENGINE, STREAMS, STORAGE = "scale", "cores", "engine", "streams", "storage"
WORKLOAD = "workload"
# Conditions that matter for each kind of figure. For other kinds all differences are listed.
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
    """One difference in conditions between a published article's measurement and a study's.

    Attributes:
        topic: Topic of the difference, one of the keys of `DECIDES`.
        brief: Short phrase for lists.
        text: Explanation in complete sentences.
    """

    topic: str
    brief: str
    text: str


def reasons(conditions: Conditions, runs: Sequence[StudyRun]) -> tuple[Reason, ...]:
    """Return the differences in conditions between the article's measurement and these runs."""
    candidates = (
        _workload(conditions, runs),
        _scale(conditions, runs),
        _cores(conditions, runs),
        _engine(conditions, runs),
        _streams(conditions, runs),
        _storage(runs),
    )
    return tuple(reason for reason in candidates if reason is not None)


def deciding(kind: str, conditions: Conditions, runs: Sequence[StudyRun]) -> str | None:
    """Return a sentence on the conditions that matter for a kind of result; None without any."""
    by_topic = {reason.topic: reason.brief for reason in reasons(conditions, runs)}
    topics = (WORKLOAD, *DECIDES[kind]) if kind in DECIDES else tuple(by_topic)
    briefs = [by_topic[topic] for topic in topics if topic in by_topic]
    return f"What differs, too: {'; '.join(briefs)}." if briefs else None


def _workload(conditions: Conditions, runs: Sequence[StudyRun]) -> Reason | None:
    ours = {run.run.facts["workload"]["name"]: run.run.facts["workload"] for run in runs}
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
    ours = _distinct(float(run.run.facts["request"]["scale"]) for run in runs)
    theirs = conditions.scale
    if theirs is None or not ours or ours == [theirs]:
        return None
    here, times = listed([f"{scale:g}" for scale in ours]), theirs / max(ours)
    if times <= SAME_WITHIN:
        sentence = f"The scale is {here} here, and {theirs:g} in the article."
        return Reason(SCALE, f"scale {theirs:g} there, {here} here", sentence)
    return Reason(
        SCALE,
        f"its data are {text(times, 'times')} ours",
        f"The article's data are {text(times, 'times')} ours (scale {theirs:g}, here {here}): what"
        " a query costs whatever the data, such as its plan, weighs more here, and more of the data"
        " fits into the caches of a processor.",
    )


def _cores(conditions: Conditions, runs: Sequence[StudyRun]) -> Reason | None:
    ours = _distinct(float(count) for run in runs if (count := cpus_allowed(run.run)))
    theirs = conditions.cores
    if theirs is None or not ours or ours == [float(theirs)]:
        return None
    here = listed([f"{count:g}" for count in ours])
    return Reason(
        CORES,
        f"{theirs} hardware threads there, {here} here",
        f"The article's engine had {theirs} hardware threads, ours {here}: with fewer, one stream"
        " leaves less of the machine unused, and streams get into each other's way sooner.",
    )


def _engine(conditions: Conditions, runs: Sequence[StudyRun]) -> Reason | None:
    ours: dict[str, str] = {}
    for run in runs:
        engine = run.run.facts["engine"]
        ours[engine["name"]] = f"{engine.get('title', engine['name'])} {engine['version']}"
    title = conditions.engine_title or conditions.engine
    if conditions.engine is None or title is None:
        return None
    others = [label for name, label in ours.items() if name != conditions.engine]
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
    tests = [run.run.facts.get("test") or {} for run in runs]
    ours = _distinct(float(test["streams"]) for test in tests if test.get("streams"))
    theirs = conditions.streams
    if theirs is None or not ours or ours == [float(theirs)]:
        return None
    here = listed([f"{count:g}" for count in ours])
    brief = f"{theirs} streams there, {here} here"
    return Reason(STREAMS, brief, f"The article played {theirs} streams, here it was {here}.")


def _storage(runs: Sequence[StudyRun]) -> Reason | None:
    hosts: list[dict[str, Any]] = [run.run.environment.get("host", {}) for run in runs]
    host = next((host for host in hosts if host), None)
    if host is None:
        return None
    kind = (host.get("data_filesystem") or {}).get("type") or "a file system that was not told"
    is_virtual = bool((host.get("cpu") or {}).get("virtual"))
    disk = f"{'a virtual disk' if is_virtual else 'a disk'} ({kind})"
    sentence = f"Here the data lie on {disk} of a host with {bytes_text(host.get('memory_bytes'))}"
    fast = "; a virtual disk that its host has in memory is read faster than an SSD"
    return Reason(STORAGE, f"{disk} here", f"{sentence} of memory{fast if is_virtual else ''}.")


def _distinct(values: Iterator[float]) -> list[float]:
    return sorted(set(values))
