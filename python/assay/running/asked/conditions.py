"""Resolves options on the conditions of a run: cache state, buffer size, CPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.engines.discovery import find_engine
from assay.engines.durability import FULL, level_of
from assay.model.errors import UsageError
from assay.model.units import parse_bytes
from assay.running.asked.parsing import STATE_HOT, STATE_OS_WARM, parse_state
from assay.running.asked.placement import Host, resolve_pin

if TYPE_CHECKING:
    from collections.abc import Collection

CACHE = "cache"


@dataclass(frozen=True)
class Beginning:
    """The cache state that is required when the timed part begins.

    Attributes:
        state: One of `assay.running.asked.request.STATES`.
        passes: Number of untimed passes of the power order.
        repeats: Whether timed passes are repeated until a minimum time.
    """

    state: str
    passes: int
    repeats: bool

    @property
    def is_hot(self) -> bool:
        """Return True if operations are executed before the timed part."""
        return self.passes > 0


def beginning(given: Collection[str], text: str, *, mixed: bool) -> Beginning:
    """Return the cache state and the number of untimed passes that `--state` requests.

    A second pass would find in memory the data that the first one read. A state other than hot is
    therefore measured by one pass, unless `--min-time` is given.

    Raises:
        UsageError: If the state is unknown, or contradicts other options.
    """
    state, passes = parse_state(text)
    if mixed and text.partition(":")[2]:
        raise UsageError(f"--state {text}: a mix has no passes: use --warmup instead")
    if mixed and state != STATE_HOT and "warmup" in given:
        raise UsageError(
            f"--state {state} and --warmup: a warm-up changes that state, so remove one of the two"
        )
    return Beginning(state, passes, state == STATE_HOT or "min_time" in given)


def state_default(engine: str, *, test: bool, dsn: str | None) -> str:
    """Return the state of a run that requests none: `os-warm` for a test, else `hot`.

    A test then finds loaded data in the system's caches, or in the engine's own cache if it
    bypasses the page cache. A running server is used in its present state, and its first pass reads
    the same data as the load.
    """
    facts = find_engine(engine).facts
    settable = dsn is None and facts.kind != "none" and facts.page_cache
    return STATE_OS_WARM if test and settable else STATE_HOT


def with_buffer(
    engine: str, settings: dict[str, str], size: str | None, dsn: str | None
) -> dict[str, str]:
    """Return the settings with the size of the engine's own cache from `--buffer`.

    Raises:
        UsageError: If the text is not a valid size, the engine has no such setting, or it is set
            already.
    """
    if size is None:
        return settings
    if dsn is not None:
        raise UsageError(
            "--buffer: Assay does not change the buffer pool of a running server: remove "
            "--buffer or --dsn"
        )

    try:
        size_bytes = parse_bytes(size)
    except ValueError as error:
        raise UsageError(f"--buffer: {error}; write it like 256MB or 2GB") from error
    try:
        name, value = find_engine(engine).advising().setting(CACHE, str(size_bytes))
    except CannotError as error:
        raise UsageError(f"--buffer: {engine}: {error}: remove --buffer") from error
    if name in settings:
        raise UsageError(
            f"--buffer and --set {name} change the same setting: remove one of the two"
        )
    return settings | {name: value}


def with_durability(
    engine: str, settings: dict[str, str], level: str | None, dsn: str | None
) -> tuple[str | None, dict[str, str]]:
    """Return the durability level of a run, and the engine's settings for it.

    The default is the engine's `full`. If requested settings change the level, the result is the
    level that matches them, or None. A running server keeps its owner's settings.

    Raises:
        UsageError: If the engine has no such level, or a setting contradicts it.
    """
    facts = find_engine(engine).facts
    levels = {str(name): level_facts for name, level_facts in facts.durability.items()}
    if dsn is not None:
        if level is not None:
            raise UsageError(
                "--durability: Assay records the durability settings of a running server and "
                "does not change them: remove --durability"
            )
        return None, {}
    if level is not None and level not in levels:
        there = ", ".join(levels)
        hint = f"its levels are {there}" if levels else "it has no levels; leave it out"
        raise UsageError(
            f"--durability {level}: {engine} has no durability level of that name: {hint}"
        )
    if level is None and FULL not in levels:
        return None, {}
    of_level = levels[level or FULL].settings
    for name, value in of_level.items():
        if level is not None and settings.get(name, value).lower() != value.lower():
            raise UsageError(
                f"--durability {level} sets {name} = {value}, and --set {name}={settings[name]} "
                "contradicts it: remove one of the two"
            )
    ours = {name: value for name, value in of_level.items() if name not in settings}
    return level_of(facts.durability, ours | settings), ours


def with_techniques_off(
    engine: str, settings: dict[str, str], without: Collection[str]
) -> dict[str, str]:
    """Return the settings with techniques of planner and executor switched off.

    Raises:
        UsageError: If the engine has no such technique, or a setting of it is set already.
    """
    if not without:
        return settings
    try:
        off = find_engine(engine).techniques().settings_without(without)
    except UsageError as error:
        raise UsageError(f"--without: {engine}: {error}") from error
    if both := sorted(settings.keys() & off.keys()):
        raise UsageError(f"--without sets {both[0]}, and --set sets it too: remove one of the two")
    return settings | off


def resolved_pin(text: str | None) -> dict[str, list[int]]:
    """Return the CPUs by the process pinned to them; `UsageError` lists the available CPUs."""
    return {} if text is None else resolve_pin(text, Host.this())
