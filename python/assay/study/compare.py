"""Makes a comparison of two systems as a study whose runs alternate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.analysis.answers.durability import unequal
from assay.model.errors import UsageError
from assay.running.asked.request import RunRequest
from assay.study.asked_study import asked_study, factor_of, varied
from assay.study.declared.facts import SETTING
from assay.study.declared.levels import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.study.declared.reading import DeclaredStudy
    from assay.study.variants import Study

PART, FIGURE, FACTOR, ENGINE = "sides", "compare", "side", "engine"
SIDES = 2
# Maximum number of settings in a side's name; of more, only the first is named.
NAMED_MAX = 2
AS_IT_IS = "as it is"


@dataclass(frozen=True)
class CompareAsked:
    """The options of a comparison of two engines, versions or settings.

    Attributes:
        workload: Name or folder of the workload.
        engines: One engine for each side, or one for both; empty means the default of `assay run`.
        vary: Texts such as `work_mem=4MB,64MB`: the first value is for the first side.
        first, second: Options such as `work_mem=4MB` for one side only.
        alike: Whether both sides may be the same, to measure noise.
        keys: Keys of every run.
        repetitions: Number of rounds, each with a run of both sides.
    """

    workload: str
    engines: tuple[str, ...] = ()
    vary: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    alike: bool = False
    keys: Mapping[str, Any] = field(default_factory=dict)
    repetitions: int = 1


def comparison_study(asked: CompareAsked) -> DeclaredStudy:
    """Return the study that measures two engines or settings in alternation.

    Raises:
        UsageError: If there are fewer or more than two sides, or both are the same, or they differ
            although they are to be alike.
    """
    if len(asked.engines) > SIDES:
        raise UsageError(
            f"--engine is given {len(asked.engines)} times: a comparison has two sides; for more of"
            " them write a study (assay studies new)"
        )
    sides = [_keys(asked, 0), _keys(asked, 1)]
    if sides[0] == sides[1] and not asked.alike:
        raise UsageError(
            "both sides of the comparison are the same: name two engines or versions (--engine "
            "A --engine B), or a difference (--vary KEY=V1,V2, --a KEY=VALUE, --b KEY=VALUE). "
            "To measure the noise, add --alike"
        )
    names = _names(sides)
    if sides[0] != sides[1] and asked.alike:
        raise UsageError(
            "--alike uses the same engine and settings on both sides, and these differ "
            f"({names[0]} and {names[1]}): remove --alike, or what differs"
        )
    engines = {str(side[ENGINE]) for side in sides if ENGINE in side}
    on = f" on {engines.pop()}" if len(engines) == 1 else ""
    title = f"{asked.workload}{on}: {names[0]} and {names[1]}"
    # A side's keys do not replace those of all runs: entries of tables are merged.
    common = {key: value for key, value in asked.keys.items() if key != "seed"}
    document = {
        "title": title,
        "workload": asked.workload,
        "repetitions": asked.repetitions,
        "seed": asked.keys.get("seed", 1),
        "unequal_durability": True,
        "part": {
            PART: {
                **common,
                "factor": {
                    FACTOR: [
                        {"name": name, **keys} for name, keys in zip(names, sides, strict=True)
                    ]
                },
            }
        },
        "figure": [{"name": FIGURE, "part": PART, "kind": FIGURE, "title": title}],
    }
    name = f"compare-{asked.workload.rstrip('/').rpartition('/')[2]}"
    question = f"What differs between {names[0]} and {names[1]} in {asked.workload}{on}?"
    return asked_study(name, question, document)


def check_durability(study: Study, *, allowed: bool) -> None:
    """Refuse to compare systems with different durability of commits, unless allowed.

    Raises:
        UsageError: If the levels differ. The error message names both levels.
    """
    requests = (variant.request for part in study.parts for variant in part.variants)
    differ = unequal(request.durability for request in requests if isinstance(request, RunRequest))
    if differ is not None and not allowed:
        raise UsageError(
            f"durability differs ({differ}), and weaker durability makes commits cheaper: add "
            "--durability for both sides, or --unequal-durability to compare them anyway"
        )


def _keys(asked: CompareAsked, side: int) -> dict[str, Any]:
    """Return the option keys that only one of the two compared systems has."""
    keys: dict[str, Any] = {}
    options: dict[str, str] = {}
    for option, factor, value in _given(asked, side):
        if factor in options:
            raise UsageError(_twice(factor, options[factor], option))
        options[factor] = option
        _add(keys, factor, value)
    for key in keys:
        if key in asked.keys and key not in TABLES:
            raise UsageError(
                f"{key.replace('_', '-')} is given for one side and for both sides: remove one "
                "of the two"
            )
    return keys


def _given(asked: CompareAsked, side: int) -> Iterator[tuple[str, str, str]]:
    """Yield the command-line option, the factor and the value of each key of a side."""
    if asked.engines:
        yield "--engine", ENGINE, asked.engines[min(side, len(asked.engines) - 1)]
    for factor, values in varied(asked.vary).items():
        if len(values) != SIDES:
            raise UsageError(
                f"--vary {factor.removeprefix(SETTING)} has {len(values)} values: a comparison "
                "needs two, one for each side"
            )
        yield "--vary", factor, values[side]
    option, texts = ("--a", asked.first) if side == 0 else ("--b", asked.second)
    for factor, value in _parsed(option, texts):
        yield option, factor, value


def _twice(factor: str, first: str, second: str) -> str:
    """Return the message on a key that two options, or one option twice, give a side."""
    is_setting = factor.startswith(SETTING)
    name = factor.removeprefix(SETTING) if is_setting else factor.replace("_", "-")
    if first == second:
        return f"{first} {name} is given twice"
    return f"{name} is given with {first} and with {second}: remove one of the two"


def _parsed(option: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    pairs = []
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key.strip() or not value.strip():
            raise UsageError(f"{option} {text}: write it as {option} KEY=VALUE")
        pairs.append((factor_of(key.strip()), value.strip()))
    return pairs


def _add(keys: dict[str, Any], factor: str, value: str) -> None:
    table, _, inner = factor.partition(".")
    if inner and table in TABLES:
        keys[table] = {**keys.get(table, {}), inner: value}
    else:
        keys[factor] = value


def _names(sides: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the two compared systems, from the keys in which they differ."""
    texts = [_key_texts(side) for side in sides]
    own = [[text for text in texts[at] if text not in texts[1 - at]] for at in (0, 1)]
    if not any(own):
        return ["first", "second"]
    names = [_briefly(parts) for parts in own]
    if names[0] == names[1]:
        names = [" ".join(parts) for parts in own]
    return [
        name or str(side.get(ENGINE, AS_IT_IS)) for name, side in zip(names, sides, strict=True)
    ]


def _briefly(parts: Sequence[str]) -> str:
    """Return a compared system's name from its own keys, shortened if there are many."""
    if len(parts) <= NAMED_MAX:
        return " ".join(parts)
    return f"{parts[0]} and {len(parts) - 1} more"


def _key_texts(side: Mapping[str, Any]) -> list[str]:
    """Return the keys and values of a compared system as texts."""
    texts = []
    for key, value in side.items():
        if key == ENGINE:
            texts.append(str(value))
        elif key in TABLES:
            texts += [f"{name}={inner}" for name, inner in value.items()]
        else:
            texts.append(f"{key.replace('_', '-')}={value}")
    return texts
