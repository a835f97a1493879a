"""The engine settings that a search varies, and the range of each."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assay.analysis.study_runs import SETTING
from assay.model.errors import UsageError, suggestion
from assay.study.asked_study import factor_of, levels_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.engines.knobs import Knob, KnobsFacts

RANGE = re.compile(r"(.+?)\.\.(.+)")
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)\s*([A-Za-z]*)")
# Powers of sizes by the first letter of their unit; other units are not converted.
STEPS = {"k": 1, "m": 2, "g": 3, "t": 4}
# Ratio of a range's ends from which the scale is logarithmic, unless a file says otherwise.
APART = 8.0
# Significant digits of a value; more would suggest that they matter.
DIGITS = 2


@dataclass(frozen=True)
class SearchedKnob:
    """An engine setting that a search varies, with its possible values.

    Attributes:
        setting: Name of the setting.
        choices: All values; empty if the setting is a number.
        low, high: Bounds of a number, both included.
        unit: Unit after each number, in the user's spelling.
        whole: Whether numbers are integers.
        logarithmic: Whether the search is on a logarithmic scale.
        beside: Other settings that the knob needs to have an effect.
    """

    setting: str
    choices: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    unit: str = ""
    whole: bool = True
    logarithmic: bool = False
    beside: Mapping[str, str] = field(default_factory=dict)

    @property
    def ends(self) -> tuple[str, ...]:
        """The extreme values of the setting, which the engine checks before any run."""
        return self.choices or (self.text(self.low), self.text(self.high))

    def text(self, value: float | str) -> str:
        """Return a value of the setting as text in the engine's form."""
        if isinstance(value, str):
            return value
        return f"{int(value) if self.whole else f'{value:.10g}'}{self.unit}"

    def number(self, text: str) -> float:
        """Return the number in a setting's text."""
        return float(text.removesuffix(self.unit))

    def rounded(self, value: float) -> float:
        """Return a number rounded to the setting's significant digits and range."""
        near = float(f"{value:.{DIGITS}g}")
        return min(self.high, max(self.low, near or value))

    def facts(self) -> dict[str, Any]:
        """Return the searched setting as `study.toml` stores it."""
        return asdict(self) | {"choices": list(self.choices)}


def searched_knobs(
    texts: Sequence[str], facts: KnobsFacts, engine: str
) -> tuple[SearchedKnob, ...]:
    """Return the engine settings to search: the requested ones, or all declared knobs.

    Args:
        texts: `NAME=LOW..HIGH`, `NAME=a,b,c`, or the name of one of the engine's knobs.
        facts: The engine's `knobs.toml`.
        engine: Name of the engine.

    Raises:
        UsageError: If the engine has no such knob, or a text does not have the required form.
    """
    knobs: dict[str, SearchedKnob] = {}
    for knob in _asked_knobs(texts, facts, engine) if texts else _all_knobs(facts, engine):
        if knob.setting in knobs:
            raise UsageError(f"--knob {knob.setting} is given twice: give all its values at once")
        knobs[knob.setting] = knob
    return tuple(knobs.values())


def _all_knobs(facts: KnobsFacts, engine: str) -> Iterator[SearchedKnob]:
    ranged = {
        name: knob for name, knob in facts.knobs.items() if knob.choices or knob.low is not None
    }
    if not ranged:
        raise UsageError(
            f"{engine} declares no knobs with values: name them with --knob NAME=LOW..HIGH or "
            "--knob NAME=a,b,c"
        )
    for name, knob in ranged.items():
        yield _knob_of_file(name, knob)


def _asked_knobs(texts: Sequence[str], facts: KnobsFacts, engine: str) -> Iterator[SearchedKnob]:
    for text in texts:
        name, separator, values = (part.strip() for part in text.partition("="))
        if not name or (separator and not values):
            raise UsageError(f"--knob {text}: write it as NAME=LOW..HIGH or NAME=a,b,c")
        if factor_of(name) != f"{SETTING}{name}":
            raise UsageError(
                f"--knob {name} is an option of assay run, not a setting of {engine}: 'assay "
                f"sweep --vary {name}=...' compares its values"
            )
        named_knob = facts.of_setting(name)
        if separator:
            where = f"--knob {name}="
            if named_knob is None:
                yield _ranged(name, values, even=False, where=where)
            else:
                knob = named_knob[1]
                searched = _ranged(knob.setting, values, even=knob.even, where=where)
                yield replace(searched, beside=knob.beside)
            continue
        if named_knob is None or not (named_knob[1].choices or named_knob[1].low):
            have = [
                knob_name for knob_name, knob in facts.knobs.items() if knob.choices or knob.low
            ]
            hint = f"; {suggestion(name, have)}" if have else ""
            raise UsageError(
                f"--knob {name}: {engine} declares no values of this setting{hint}: give them, "
                f"as in --knob {name}=LOW..HIGH"
            )
        yield _knob_of_file(*named_knob)


def _knob_of_file(name: str, knob: Knob) -> SearchedKnob:
    if knob.choices:
        return SearchedKnob(knob.setting, knob.choices, beside=knob.beside)
    values, where = f"{knob.low}..{knob.high}", f"knob {name}, "
    searched = _ranged(knob.setting, values, even=knob.even, where=where)
    return replace(searched, beside=knob.beside)


def _ranged(setting: str, values: str, *, even: bool, where: str) -> SearchedKnob:
    """Return the searched setting that a text such as `NAME=LOW..HIGH` defines."""
    ends = RANGE.fullmatch(values)
    if ends is None:
        choices = levels_of(where, values)
        if len(choices) == 1:
            raise UsageError(
                f"{where}{values}: a search needs several values: write LOW..HIGH or a,b,c, or "
                f"use --set {setting}={values}"
            )
        return SearchedKnob(setting, tuple(choices))
    low, unit, low_whole = _end(ends[1], where, values)
    high, high_unit, high_whole = _end(ends[2], where, values)
    high = _in_unit(high, high_unit, unit, f"{where}{values}")
    whole = low_whole and high_whole and high.is_integer()
    if unit and not whole:
        raise UsageError(f"{where}{values}: write whole numbers in a smaller unit, such as 512MB")
    if not low < high:
        raise UsageError(
            f"{where}{values}: the lower end {ends[1]} is not below the upper end {ends[2]}"
        )
    logarithmic = not even and low > 0 and high / low >= APART
    return SearchedKnob(setting, (), low, high, unit, whole, logarithmic)


def _end(text: str, where: str, values: str) -> tuple[float, str, bool]:
    """Return number and unit of a range's end, and whether the number is an integer."""
    number = NUMBER.fullmatch(text.strip())
    if number is None:
        raise UsageError(
            f"{where}{values}: {text.strip()!r} is not a number: write LOW..HIGH such as "
            "4MB..256MB, or values separated by commas"
        )
    return float(number[1]), number[2], "." not in number[1]


def _in_unit(number: float, unit: str, wanted: str, where: str) -> float:
    """Return a number converted to another unit of size.

    Raises:
        UsageError: If the units measure different quantities.
    """
    if unit == wanted:
        return number
    steps = [STEPS.get(unit_name[:1].lower()) for unit_name in (unit, wanted)]
    if steps[0] is None or steps[1] is None or unit[1:].lower() != wanted[1:].lower():
        raise UsageError(f"{where}: write both ends with the same unit, such as 4MB..256MB")
    return float(number * 1024.0 ** (steps[0] - steps[1]))
