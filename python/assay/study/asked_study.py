"""A study that a command line asks for, without a file: the same code understands both."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from assay.model.errors import UsageError
from assay.running.asked.options import option_names
from assay.study.declared.facts import SETTING, StudyFacts
from assay.study.declared.levels import TABLES
from assay.study.declared.reading import DeclaredStudy, contradictions, listed, wrong_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

OPTION = "--vary"
NO_KNOBS: Mapping[str, str] = MappingProxyType({})


def asked_study(name: str, question: str, document: Mapping[str, Any]) -> DeclaredStudy:
    """A study, of what would stand in its file.

    Args:
        name: Name of its directory, and by which the same command finds it again.
        question: What its runs answer.
        document: As `study.toml` would have it.

    Raises:
        UsageError: For all that is wrong in it.
    """
    try:
        facts = StudyFacts.model_validate(document)
    except ValidationError as error:
        problems = wrong_keys(error)
    else:
        problems = contradictions(facts)
        if not problems:
            return DeclaredStudy(name, None, question, facts)
    lines = [f"{_place(where)}{problem}" for where, problem in problems]
    raise UsageError(listed(list(dict.fromkeys(lines))))


def varied(
    texts: Sequence[str], option: str = OPTION, knobs: Mapping[str, str] = NO_KNOBS
) -> dict[str, list[str]]:
    """Factors and their levels, from texts such as `work_mem=4MB,64MB`.

    A key is an option of a run, one thing of a table (`limit.cpu`), a knob, or a setting of the
    engine.

    Args:
        texts: As a person gave them.
        option: That they were given by, for errors.
        knobs: The setting of each knob that is known by a name of its own.

    Raises:
        UsageError: If a text is not of that form, or has one level alone, or one of them twice.
    """
    factors: dict[str, list[str]] = {}
    for text in texts:
        key, separator, values = text.partition("=")
        if not separator or not key.strip():
            raise UsageError(f"{option} {text}: write it as {option} KEY=VALUE,VALUE,...")
        factor = factor_of(key.strip(), knobs)
        if factor in factors:
            raise UsageError(f"{option} {key.strip()} is given twice: give all its values at once")
        factors[factor] = levels_of(f"{option} {key.strip()}=", values)
    return factors


def levels_of(before: str, text: str) -> list[str]:
    """Values between commas. `before` is what stands before them on the command line.

    Raises:
        UsageError: If one is empty or given twice.
    """
    levels = [level.strip() for level in text.split(",")]
    if not all(levels):
        raise UsageError(f"{before}{text}: there is an empty value: write VALUE,VALUE,...")
    if twice := [level for level in levels if levels.count(level) > 1]:
        raise UsageError(f"{before}{text}: {twice[0]} is given twice")
    return levels


def factor_of(key: str, knobs: Mapping[str, str] = NO_KNOBS) -> str:
    """The factor of a key: an option of a run by either spelling, a knob, else a setting."""
    option = key.replace("-", "_")
    if option in option_names() and option not in TABLES:
        return option
    if key.partition(".")[0] in TABLES:
        return key
    return f"{SETTING}{knobs.get(key, key)}"


def _place(where: Sequence[str | int]) -> str:
    """The innermost place that a person named, before what is wrong with it."""
    named = [key for key in where if isinstance(key, str)]
    return f"{named[-1].removeprefix(SETTING)}: " if named else ""
