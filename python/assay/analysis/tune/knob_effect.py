"""Checks that a changed engine setting took effect, by its value in force and by counters.

If an engine ignores a setting, all runs are alike, and a response curve is meaningless. So the
value in force is compared with the requested one. Counters that must change with the knob are
compared between levels, by analysis of variance over rounds.
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

# A counter counts as moved below this probability of chance, for all of a knob's counters
# together.
CHANCE_MAX = 0.05
# The same limit for measured times, which also change with other programs on the host.
TIME_CHANCE_MAX = 0.01
# A change below this share of the largest mean is not relevant.
MOVED_MIN = 0.01
# Engines print sizes by powers of 1000 or of 1024, with three digits.
SIZES_APART_MAX = 0.08
ON, OFF = ("on", "true", "yes", "1"), ("off", "false", "no", "0")
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Turned:
    """The engine setting (knob) that differs between the levels of a study's factor.

    Attributes:
        setting: Name of the setting; None if no setting differs, or several differ and none has
            a knob.
        name: Name of its knob; None means that the engine's `knobs.toml` has none.
        effective: Name of the setting among those in force; None if the engine does not report
            it.
        moves, scheduling, blocking: Names of counters in the knob's declaration.
    """

    setting: str | None
    name: str | None = None
    effective: str | None = None
    moves: tuple[str, ...] = ()
    scheduling: tuple[str, ...] = ()
    blocking: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadBack:
    """The value of a setting that was requested at a level, and the value in force.

    Attributes:
        level: Name of the level.
        asked: Requested value; None means that the level leaves the setting unchanged.
        effective: Value in force in all runs of the level; None if not reported, or if it
            differs.
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
    """The values of one counter over the levels of an engine setting.

    Attributes:
        name, title, unit: Name, title and unit of the counter.
        values: Values over rounds, by level. Levels without a value are left out.
        chance: Probability that equal levels differ this much; None if not known.
        limit: Probability below which the counter counts as moved.
        why_not: Reason why it was not counted.
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
        """The mean of the counter's values, by level of the setting."""
        return {level: sum(values) / len(values) for level, values in self.values.items()}

    @property
    def moved(self) -> bool | None:
        """True if the counter differs between levels by more than noise; None if not known."""
        if self.chance is None:
            return None
        ends = sorted(self.means.values(), key=abs)
        apart = max(ends) - min(ends)
        return self.chance < self.limit and apart > MOVED_MIN * abs(ends[-1])


@dataclass(frozen=True)
class Effect:
    """The effect of changing an engine setting, and whether the engine applied it.

    Attributes:
        took: Whether the knob took effect; None if not known.
        why: Reason, without a subject.
        read_back: Requested value and value in force, for each level.
        moved: Counters that the knob must move.
        other_plans: Whether levels have different plans; None if not known.
    """

    took: bool | None
    why: str
    read_back: tuple[ReadBack, ...]
    moved: tuple[Moved, ...]
    other_plans: bool | None


def turned_by(levels: Mapping[str, Sequence[Run]]) -> Turned:
    """Return the setting that differs between the levels of a study's factor."""
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
    """Return whether the engine applied a changed setting, with its effects.

    Args:
        levels: Runs by level.
        turned: The knob that was changed.
        moved: Its counters, from `moved_of`.
        times: Values of the metric of the runs, by level over rounds.
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
    """Return the values of one counter over levels, with the probability of chance.

    Args:
        name: Name in the knob's declaration.
        title: Title for readers.
        unit: Unit of its values.
        values: Values by level over rounds.
        counters: Number of counters that are tested, each of which may move by chance
            (Bonferroni).
        why_not: Reason why it was not counted.
    """
    counted = {level: tuple(figures) for level, figures in values.items() if figures}
    chance = chance_of_alike(list(counted.values()))
    return Moved(name, title, unit, counted, chance, CHANCE_MAX / max(1, counters), why_not)


def read_back_of(levels: Mapping[str, Sequence[Run]], turned: Turned) -> tuple[ReadBack, ...]:
    """Return the requested setting and the value in force at each level."""
    if turned.setting is None:
        return ()
    read_back = []
    for level, runs in levels.items():
        asked = _settings(runs[0]).get(turned.setting)
        in_force = {_effective(run, turned.effective) for run in runs}
        read_back.append(ReadBack(level, asked, in_force.pop() if len(in_force) == 1 else None))
    return tuple(read_back)


def other_plans(levels: Mapping[str, Sequence[Run]]) -> bool | None:
    """Return True if levels of a setting have different plans; None if plans are missing.

    The result is False if plans differ between the rounds of a level.
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
    """Return True if two texts mean the same value of a setting, such as `8MB` and `8 MB`.

    Sizes count as equal if they differ only by powers of 1000 instead of 1024.
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
    """Return whether the engine applied a setting, and the reason for this verdict."""
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
