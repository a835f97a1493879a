"""Checks that a changed knob took effect: its value in force, and counters that must move.

A setting that an engine ignores gives runs that are alike, and a curve through them says nothing.
So what is in force is compared with what was asked, and counters that cannot stay where they were
are compared between levels, by analysis of variance over rounds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.analysis.plans.recorded import read_plans
from assay.analysis.plans.shape import shape
from assay.analysis.quantities import listed
from assay.analysis.stats.variance import chance_of_alike
from assay.model.units import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.record.reader import Run

# Chance below which counters are said to have moved, all of a knob's together.
CHANCE_MAX = 0.05
# The same of what is measured: times also move with whatever else a host does.
TIME_CHANCE_MAX = 0.01
# A counter that moves by less than this part of its largest mean tells of nothing.
MOVED_MIN = 0.01
# Engines tell sizes by powers of 1000 or of 1024, with three digits.
SIZES_APART_MAX = 0.08
ON, OFF = ("on", "true", "yes", "1"), ("off", "false", "no", "0")
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Turned:
    """The setting that differs between the levels of a factor.

    Attributes:
        setting: Name of the setting; None if no setting differs, or several do and none has a knob.
        name: Name of its knob; None means the engine's `knobs.toml` has none.
        effective: What is looked for among the settings in force; None if the engine tells none.
        moves, scheduling, blocking: Names of counters, as the knob has them.
    """

    setting: str | None
    name: str | None = None
    effective: str | None = None
    moves: tuple[str, ...] = ()
    scheduling: tuple[str, ...] = ()
    blocking: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadBack:
    """The value that was requested at a level, and the value in force.

    Attributes:
        level: Name of the level.
        asked: None: the level leaves it as it is.
        effective: In all of its runs; None if not told, or not alike.
    """

    level: str
    asked: str | None
    effective: str | None

    @property
    def is_asked(self) -> bool | None:
        """True if the requested value is in force; None if not known."""
        if self.asked is None or self.effective is None:
            return None
        return same_value(self.asked, self.effective)


@dataclass(frozen=True)
class Moved:
    """One counter over the levels.

    Attributes:
        name, title, unit: As it was counted.
        values: By level over its rounds; levels of which it is not known are left out.
        chance: That levels alike differ so much; None if nothing tells.
        limit: Below which it has moved.
        why_not: Why it was not counted.
    """

    name: str
    title: str
    unit: str
    values: Mapping[str, tuple[float, ...]]
    chance: float | None
    limit: float
    why_not: str | None = None

    @property
    def means(self) -> dict[str, float]:
        """The mean by level."""
        return {level: sum(values) / len(values) for level, values in self.values.items()}

    @property
    def moved(self) -> bool | None:
        """True if levels differ by more than their rounds do; None if not known."""
        if self.chance is None:
            return None
        ends = sorted(self.means.values(), key=abs)
        apart = max(ends) - min(ends)
        return self.chance < self.limit and apart > MOVED_MIN * abs(ends[-1])


@dataclass(frozen=True)
class Effect:
    """The effect of a knob.

    Attributes:
        took: None: not known.
        why: In words, without who it is said of.
        read_back: One a level.
        moved: Counters that it moves.
        other_plans: Whether levels are executed by different plans; None if not known.
    """

    took: bool | None
    why: str
    read_back: tuple[ReadBack, ...]
    moved: tuple[Moved, ...]
    other_plans: bool | None


def turned_by(levels: Mapping[str, Sequence[Run]]) -> Turned:
    """Return the setting that makes the levels of a factor, and its engine's knob."""
    asked = [_settings(runs[0]) for runs in levels.values() if runs]
    names = dict.fromkeys(name for settings in asked for name in settings)
    differing = [name for name in names if len({settings.get(name) for settings in asked}) > 1]
    knobs = _knobs(next(runs[0] for runs in levels.values() if runs))
    for setting in differing:
        for name, knob in knobs.items():
            if knob["setting"] == setting:
                named = knob.get("effective")
                effective = setting if named is None else named or None
                sides = {key: tuple(knob[key]) for key in ("moves", "scheduling", "blocking")}
                return Turned(setting, name, effective, **sides)
    if len(differing) != 1:
        return Turned(None)
    return Turned(differing[0], effective=differing[0])


def effect_of(
    levels: Mapping[str, Sequence[Run]],
    turned: Turned,
    moved: Sequence[Moved],
    times: Mapping[str, Sequence[float]],
) -> Effect:
    """Return whether a knob took effect.

    Args:
        levels: Runs by level.
        turned: The knob.
        moved: Its counters, as `moved_of` gives them.
        times: What the runs are judged by, by level over rounds.
    """
    read_back = read_back_of(levels, turned)
    plans = other_plans(levels)
    took, why = _judged(
        turned, read_back, moved, chance_of_alike(list(times.values())), plans=plans
    )
    return Effect(took, why, read_back, tuple(moved), plans)


def moved_of(
    name: str,
    title: str,
    unit: str,
    values: Mapping[str, Sequence[float]],
    *,
    counters: int,
    why_not: str | None = None,
) -> Moved:
    """Return one counter over levels.

    Args:
        name: As a knob names it.
        title: In words.
        unit: Unit of its values.
        values: By level over rounds.
        counters: How many are looked at: any may move by chance (Bonferroni).
        why_not: Why it was not counted.
    """
    counted = {level: tuple(figures) for level, figures in values.items() if figures}
    chance = chance_of_alike(list(counted.values()))
    return Moved(name, title, unit, counted, chance, CHANCE_MAX / max(1, counters), why_not)


def read_back_of(levels: Mapping[str, Sequence[Run]], turned: Turned) -> tuple[ReadBack, ...]:
    """Return the value asked for and the one in force at each level; empty of no setting."""
    if turned.setting is None:
        return ()
    read_back = []
    for level, runs in levels.items():
        asked = _settings(runs[0]).get(turned.setting)
        in_force = {_effective(run, turned.effective) for run in runs}
        read_back.append(ReadBack(level, asked, in_force.pop() if len(in_force) == 1 else None))
    return tuple(read_back)


def other_plans(levels: Mapping[str, Sequence[Run]]) -> bool | None:
    """Return True if levels have different plans; None if plans are missing.

    Not where a level's own rounds have different ones.
    """
    shapes: list[set[tuple[str, ...]]] = []
    for runs in levels.values():
        of_level = {_shapes(run) for run in runs}
        if None in of_level:
            return None
        shapes.append({plan_shapes for plan_shapes in of_level if plan_shapes is not None})
    return all(len(level_shapes) == 1 for level_shapes in shapes) and len(set.union(*shapes)) > 1


def in_sentence(title: str) -> str:
    """Return a title for use within a sentence, without a capital letter unless it is a name."""
    return f"{title[:1].lower()}{title[1:]}" if title[1:2].islower() else title


def same_value(asked: str, effective: str) -> bool:
    """Return True if two texts mean the same value of a setting.

    Sizes that differ as powers of 1000 differ from powers of 1024 are the same.
    """
    left, right = asked.strip().lower(), effective.strip().lower()
    if left == right or any(left in switch and right in switch for switch in (ON, OFF)):
        return True
    if _NUMBER.fullmatch(left) and _NUMBER.fullmatch(right):
        return float(left) == float(right)
    try:
        first, second = parse_bytes(left), parse_bytes(right)
    except ValueError:
        return False
    return abs(first - second) <= SIZES_APART_MAX * max(first, second)


def _judged(
    turned: Turned,
    read_back: Sequence[ReadBack],
    moved: Sequence[Moved],
    chance: float | None,
    *,
    plans: bool | None,
) -> tuple[bool | None, str]:
    """Return whether it took effect, and why that is said."""
    in_force = {level.effective for level in read_back}
    asked = {level.asked for level in read_back}
    if len(asked) > 1 and len(in_force) == 1 and None not in in_force:
        return False, (
            f"{turned.effective} is {in_force.pop()} in force at all levels, whatever was asked"
        )
    counted = [counter for counter in moved if counter.moved is not None]
    if went := [counter for counter in counted if counter.moved]:
        return True, f"{_named(went)} moved with it"
    if plans:
        return True, "its levels are executed by different plans"
    if chance is not None and chance < TIME_CHANCE_MAX:
        beside = f", though {_named(counted)} did not move" if counted else ""
        return True, f"what is measured differs between its levels{beside}"
    if counted:
        same = ", and all levels have the same plan" if plans is False else ""
        taken = (
            "it is in force as asked, but " if all(level.is_asked for level in read_back) else ""
        )
        return False, (
            f"{taken}{_named(counted)} did not move beyond what runs alike differ by{same};"
            " nor did what is measured"
        )
    return None, _why_unknown(turned, moved, plans=plans)


def _why_unknown(turned: Turned, moved: Sequence[Moved], *, plans: bool | None) -> str:
    same = "; all levels have the same plan" if plans is False else ""
    if turned.setting is None:
        why = "it is no single setting of the engine, so nothing of it is read back"
    elif reasons := [counter for counter in moved if counter.why_not is not None]:
        why = "; ".join(f"{counter.title}: not measured: {counter.why_not}" for counter in reasons)
    elif moved:
        why = "there is one run a level, so the noise between equal runs is unknown"
    else:
        why = "no counter is known that it moves"
    return f"{why}{same}"


def _named(moved: Sequence[Moved]) -> str:
    return listed([in_sentence(counter.title) for counter in moved])


def _settings(run: Run) -> Mapping[str, str]:
    return {name: str(value) for name, value in run.facts["request"]["settings"].items()}


def _knobs(run: Run) -> Mapping[str, Mapping[str, Any]]:
    knobs: Mapping[str, Mapping[str, Any]] = (run.facts["engine"].get("knobs") or {}).get(
        "knobs", {}
    )
    return knobs


def _effective(run: Run, name: str | None) -> str | None:
    settings = run.environment.get("engine", {}).get("settings") or {}
    by_name = {str(key).lower(): value for key, value in settings.items()}
    value = None if name is None else by_name.get(name.lower())
    return None if value is None else str(value)


def _shapes(run: Run) -> tuple[str, ...] | None:
    plans = read_plans(run)
    if not plans:
        return None
    return tuple(shape(plan) for several in plans.values() for plan in several)
