"""Compares plans of statements with each changed optimiser setting back at its default."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pymysql

from assay.engines.contract import EngineError
from assay.engines.mysql_family.connecting import set_session
from assay.engines.mysql_family.plan_facts import SWITCH
from assay.engines.mysql_family.statements import split
from assay.model.catalogue import Alternative, ChangedSetting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.model.plan import Plan, PlanNode


# Only statements that begin with these words are executed again with a setting changed, because
# they only read.
READING = ("select", "with", "(")
# Memory settings of the executor, which may be slower with the same plan.
MEMORY = {
    "join_buffer_size",
    "join_buffer_space_limit",
    "max_heap_table_size",
    "read_rnd_buffer_size",
    "sort_buffer_size",
    "tmp_memory_table_size",
    "tmp_table_size",
}
# Error numbers of the server for a statement that exceeded its time limit.
CANCELLED = {1317, 1969, 3024}
# Number of executions, of which the shortest time counts because times vary.
REPEATED = 2


@dataclass(frozen=True)
class PlanAsker:
    """Functions that query a MySQL server for plans.

    Attributes:
        estimated: Returns the plan of a statement without executing it.
        executed: Returns the plan of a statement that it executes.
        carry_out: Executes a statement that changes a setting.
        limit_s: Seconds after which the server cancels a statement.
    """

    estimated: Callable[[str], Plan]
    executed: Callable[[str], Plan]
    carry_out: Callable[[str], object]
    limit_s: float = math.inf


def alternatives(
    place: tuple[str, int],
    text: str,
    changed: Sequence[ChangedSetting],
    asker: PlanAsker,
) -> list[Alternative]:
    """Return plans with one setting changed that differ from the chosen plan, with times.

    Args:
        place: Operation, and position of the statement.
        text: Statement with its values filled in.
        changed: Settings that differ from their defaults.
        asker: Functions that query plans.
    """
    if not split(text)[0].lower().startswith(READING):
        return []
    plans = []
    for setting in single_settings(changed):
        try:
            plans += _changed(place, text, setting, asker)
        except (pymysql.Error, EngineError, ValueError):
            # Skip a plan that is refused, takes too long or cannot be parsed.
            continue
    return plans


def single_settings(changed: Sequence[ChangedSetting]) -> Iterator[ChangedSetting]:
    """Yield changed settings one by one, and each optimiser switch flag separately."""
    for setting in changed:
        if setting.name != SWITCH:
            yield setting
            continue
        flags = zip(setting.value.split(","), setting.default.split(","), strict=False)
        yield from (ChangedSetting(SWITCH, value, default) for value, default in flags)


def _changed(
    place: tuple[str, int],
    text: str,
    setting: ChangedSetting,
    asker: PlanAsker,
) -> list[Alternative]:
    """Return the plan with one setting at its default; empty if the plan is the same."""
    chosen = asker.estimated(text)
    with_default = _with(setting, asker, lambda: asker.estimated(text))
    differs = with_default.line != chosen.line
    if not differs and setting.name not in MEMORY:
        return []
    seconds, seconds_changed, cancelled = _times(text, setting, asker, 1 if differs else REPEATED)
    return [
        Alternative(
            *place,
            "setting",
            setting.name,
            setting.default,
            chosen.cost,
            with_default.cost,
            differs=differs,
            indexes=tuple(sorted(_indexes(with_default.root) - _indexes(chosen.root))),
            summary=with_default.line,
            seconds=seconds,
            seconds_changed=seconds_changed,
            cancelled=cancelled,
        )
    ]


def _times(
    text: str, setting: ChangedSetting, asker: PlanAsker, times: int
) -> tuple[float | None, float | None, bool]:
    """Return the seconds of a statement and with the default, and whether it was cancelled.

    Both seconds are None if one of them is not known. A statement that was cancelled has the time
    limit as its seconds, if it ends with the default.
    """

    def with_default() -> float | None:
        return _with(setting, asker, lambda: asker.executed(text)).execution_s

    # The chosen plan runs first, so that both find the same data in memory.
    try:
        asker.executed(text)
    except pymysql.Error as error:
        if error.args[0] not in CANCELLED:
            raise
        return asker.limit_s, with_default(), True
    measured, changed = [], []
    for _ in range(times):
        measured.append(asker.executed(text).execution_s)
        changed.append(with_default())
    seconds, seconds_changed = _least(measured), _least(changed)
    is_known = seconds is not None and seconds_changed is not None
    return (seconds, seconds_changed, False) if is_known else (None, None, False)


def _least(seconds: Sequence[float | None]) -> float | None:
    """Return the minimum of times in seconds; None if one is not known."""
    times = [time_s for time_s in seconds if time_s is not None]
    return min(times) if times and len(times) == len(seconds) else None


def _with(setting: ChangedSetting, asker: PlanAsker, ask: Callable[[], Plan]) -> Plan:
    """Return a plan with a setting at its default, and restore the setting at once."""
    asker.carry_out(set_session(setting.name, setting.default))
    try:
        return ask()
    finally:
        asker.carry_out(set_session(setting.name, setting.value))


def _indexes(root: PlanNode) -> set[str]:
    return {node.index for node in root.walk() if node.index is not None}
