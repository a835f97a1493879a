"""Why an article's figures differ from ours, as far as both say how they were measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.analysis.figures.quantities import listed, text
from assay.analysis.summary import cpus_allowed
from assay.model.units import bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.figures.contract import StudyRun
    from assay.analysis.published.facts import Conditions

SCALE, CORES, ENGINE, STREAMS, STORAGE = "scale", "cores", "engine", "streams", "storage"
# What decides about each kind of figure; of others all is told.
DECIDES = {
    "profile": (ENGINE, SCALE),
    "utilisation": (CORES, STREAMS, SCALE),
    "memory": (ENGINE, SCALE, STREAMS),
    "states": (STORAGE, SCALE, ENGINE),
    "first_run": (ENGINE, SCALE, STORAGE),
    "gains": (ENGINE, SCALE),
    "operations": (SCALE, CORES, ENGINE),
}
SAME_WITHIN = 1.05


def reasons(kind: str, conditions: Conditions, runs: Sequence[StudyRun]) -> tuple[str, ...]:
    """What differs between the article's measurement and these runs, a sentence each.

    Args:
        kind: Of the figure.
        conditions: Of the article.
        runs: That the figure is made of.
    """
    told = {
        SCALE: _scale(conditions, runs),
        CORES: _cores(conditions, runs),
        ENGINE: _engine(conditions, runs),
        STREAMS: _streams(conditions, runs),
        STORAGE: _storage(runs),
    }
    wanted = DECIDES.get(kind, tuple(told))
    return tuple(words for name in wanted if (words := told[name]) is not None)


def _scale(conditions: Conditions, runs: Sequence[StudyRun]) -> str | None:
    ours = _distinct(float(one.run.facts["request"]["scale"]) for one in runs)
    theirs = conditions.scale
    if theirs is None or not ours or ours == [theirs]:
        return None
    times = theirs / max(ours)
    if times > SAME_WITHIN:
        return (
            f"The article's data are {text(times, 'times')} ours (scale {theirs:g}, here"
            f" {listed([f'{one:g}' for one in ours])}): what a query costs whatever the data,"
            " such as its plan, weighs more here, and more of the data fits into the caches of a"
            " processor."
        )
    return (
        f"The scale is {listed([f'{one:g}' for one in ours])} here, and {theirs:g} in the article."
    )


def _cores(conditions: Conditions, runs: Sequence[StudyRun]) -> str | None:
    ours = _distinct(float(count) for one in runs if (count := cpus_allowed(one.run)))
    theirs = conditions.cores
    if theirs is None or not ours or ours == [float(theirs)]:
        return None
    return (
        f"The article's engine had {theirs} hardware threads, ours"
        f" {listed([f'{one:g}' for one in ours])}: with fewer, one stream leaves less of the"
        " machine unused, and streams get into each other's way sooner."
    )


def _engine(conditions: Conditions, runs: Sequence[StudyRun]) -> str | None:
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
        parts.append(f"here it is {same}, open source and of another time")
    if others:
        parts.append(
            f"{listed(others)} {'are other engines' if len(others) > 1 else 'is another'}"
            ", with plans and functions of their own"
        )
    return f"{'; '.join(parts)}."


def _streams(conditions: Conditions, runs: Sequence[StudyRun]) -> str | None:
    tests = [one.run.facts.get("test") or {} for one in runs]
    ours = _distinct(float(test["streams"]) for test in tests if test.get("streams"))
    theirs = conditions.streams
    if theirs is None or not ours or ours == [float(theirs)]:
        return None
    return f"The article played {theirs} streams, here {listed([f'{one:g}' for one in ours])}."


def _storage(runs: Sequence[StudyRun]) -> str | None:
    hosts: list[dict[str, Any]] = [one.run.environment.get("host", {}) for one in runs]
    host = next((one for one in hosts if one), None)
    if host is None:
        return None
    kind = (host.get("data_filesystem") or {}).get("type") or "a file system that was not told"
    memory = bytes_text(host.get("memory_bytes"))
    disk = "a virtual disk" if (host.get("cpu") or {}).get("virtual") else "a disk"
    return (
        f"Here the data lie on {disk} ({kind}) of a host with {memory} of memory; a virtual disk"
        " that its host has in memory is read faster than an SSD."
        if disk == "a virtual disk"
        else f"Here the data lie on {disk} ({kind}) of a host with {memory} of memory."
    )


def _distinct(values: Iterator[float]) -> list[float]:
    return sorted(set(values))
