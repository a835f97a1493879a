"""A study that is defined by command-line options.

Study files use the same code as command-line options.
"""

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
    """Return the study that command-line options define.

    Args:
        name: Name of its directory. Repeating the command continues the study with this name.
        question: Question that its runs answer.
        document: Content in the form of `study.toml`.

    Raises:
        UsageError: If the content has errors. The error message lists all of them.
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
    """Return factors and their levels, from texts such as `work_mem=4MB,64MB`.

    A key is an option of a run, one entry of a table (`limit.cpu`), a knob, or a setting of the
    engine.

    Args:
        texts: Values as the user wrote them.
        option: Name of the command-line option, for errors.
        knobs: Setting of each knob, by the knob's name.

    Raises:
        UsageError: If a text does not have that form, has only one level, or has a level twice.
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
    """Return the comma-separated values of a text.

    `before` is the preceding part of the command line, for errors.

    Raises:
        UsageError: If an entry is empty or occurs twice.
    """
    levels = [level.strip() for level in text.split(",")]
    if not all(levels):
        raise UsageError(f"{before}{text}: a value is empty: write VALUE,VALUE,...")
    if twice := [level for level in levels if levels.count(level) > 1]:
        raise UsageError(f"{before}{text}: {twice[0]} is given twice")
    return levels


def factor_of(key: str, knobs: Mapping[str, str] = NO_KNOBS) -> str:
    """Return the study factor that a key names: a run option or an engine setting."""
    option = key.replace("-", "_")
    if option in option_names() and option not in TABLES:
        return option
    if key.partition(".")[0] in TABLES:
        return key
    return f"{SETTING}{knobs.get(key, key)}"


def _place(where: Sequence[str | int]) -> str:
    """Return the innermost key that the user named, as the beginning of an error message."""
    named = [key for key in where if isinstance(key, str)]
    return f"{named[-1].removeprefix(SETTING)}: " if named else ""
