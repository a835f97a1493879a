"""Names of options in files of defaults and in the environment: both come from the long option.

`--min-time` of `assay run` is `min_time` in the table [run] of assay.toml, and the variable
`ASSAY_RUN_MIN_TIME`. The name of the Python parameter is not used.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "ASSAY"
# Variables that begin like those of a command's options, but are read elsewhere.
OTHER_VARIABLES = ("ASSAY_CACHE_KEEP",)


def keys_of(parameter: Any) -> list[str]:  # noqa: ANN401 - Typer does not export its types
    """Return the keys of an option in files of defaults; an argument has none."""
    return [
        option.removeprefix("--").replace("-", "_")
        for option in parameter.opts
        if option.startswith("--")
    ]


def variables_of(parameter: Any, prefix: str) -> list[str]:  # noqa: ANN401
    """Return the environment variables of an option; an argument has none."""
    return [f"{prefix}_{key.upper()}" for key in keys_of(parameter)]


def prefix_of(*commands: str) -> str:
    """Return the beginning of the variables of a command, or of a group's subcommand."""
    return "_".join((PREFIX, *commands)).upper().replace("-", "_")


def refuse_unknown_variables(command: Any) -> None:  # noqa: ANN401
    """Refuse a variable that begins like those of a command's options, but names none.

    Raises:
        UsageError: If there is one; the message has the variable with the most similar name.
    """
    known = list(_variables(command, command.name))
    for name, value in os.environ.items():
        is_ours = name.startswith(f"{prefix_of(command.name)}_")
        # An empty variable sets nothing.
        if value and is_ours and name not in (*known, *OTHER_VARIABLES):
            raise UsageError(
                f"the environment variable {name} names no option of `assay {command.name}`: "
                f"correct or unset it; {suggestion(name, known)}"
            )


def _variables(command: Any, *names: str) -> Iterator[str]:  # noqa: ANN401
    """Yield the variables of all options of a command and of its subcommands."""
    for parameter in command.params:
        yield from variables_of(parameter, prefix_of(*names))
    for name, part in getattr(command, "commands", {}).items():
        yield from _variables(part, *names, name)
