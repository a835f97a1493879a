"""Declares each option of a run once, for the command line, study files and the docs.

The command line, the keys of study files, their JSON Schema and the table in
docs/reference/options.md are made from these declarations. To add an option, add a field to
`running.asked.options` and use it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import GetJsonSchemaHandler
    from pydantic.fields import FieldInfo
    from pydantic_core import CoreSchema

LONG = re.compile(r"--([a-z][a-z-]*)")


class Group(StrEnum):
    """Groups in which help and documentation list options."""

    ASKED = "What is asked"
    LOAD = "Load"
    SERVER = "Server"
    DATA = "Data and state"
    HOST = "Host and limits"
    OBSERVATION = "Observation"
    RUNS = "How many runs"
    OUTPUT = "Output"


class Needs(StrEnum):
    """Kinds of run that an option needs; other kinds refuse it."""

    MIX = "a mix"
    DRAWN = "operations drawn at random"
    SEQUENCE = "clients that repeat a sequence"
    ORDER = "queries in a fixed order"
    TEST = "a test"
    FLEET = "a fleet"


def value_text(value: object) -> object:
    """Return a plain value as the engine's configuration writes it: `true`, `4`, `0.5`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def listed(value: object) -> object:
    """Return a list unchanged, or a single text as a list of one."""
    return (value,) if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(value_text)]
Texts = Annotated[tuple[str, ...], BeforeValidator(listed)]
Table = dict[str, Text]


@dataclass(frozen=True)
class Option:
    """The description of a command-line option: group, help and when it has an effect.

    Attributes:
        group: Group in which help and reference list it.
        help: Sentence that names other options as on the command line, such as `--clients`.
        metavar: Placeholder of a value in the help; None means the option's choices or type.
        needs: Kind of run that the option needs.
        choices: All possible values; empty if the values are not enumerated.
        parse: Parses a value of the command line; raises `UsageError` for a wrong one.
    """

    group: Group
    help: str
    metavar: str | None = None
    needs: Needs | None = None
    choices: tuple[str, ...] = ()
    parse: Callable[[str], Any] | None = None

    @property
    def shown(self) -> str | None:
        """The placeholder of an option's value in help; None without one."""
        return self.metavar or "|".join(self.choices) or None

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON Schema of an option's key in study files, with its help."""
        described = {**handler(schema), "description": as_keys(self.help)}
        return described | ({"enum": [*self.choices, None]} if self.choices else {})


# Options with a one-letter form, on every command that has the option.
LETTERS = {"--operation": "-o"}


def declared(field: FieldInfo) -> Option | None:
    """Return the option declaration of a model's field; None if the field is not an option."""
    return next((said for said in field.metadata if isinstance(said, Option)), None)


def long_name(key: str) -> str:
    """Return an option in its command-line form: `min_time` is `--min-time`."""
    return f"--{key.replace('_', '-')}"


def as_keys(help_text: str) -> str:
    """Return an option's help for study files: no `--`, and `_` for `-`."""
    return LONG.sub(lambda match: match[1].replace("-", "_"), help_text)
