"""Finds out whether a command that failed was asked for JSON, so that its error is a document."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from assay.cli.shared.verbs import VERBS, command_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OPTION = "--json"
# Texts that Typer reads as true.
TRUE = ("1", "on", "t", "true", "y", "yes")


def is_json_asked(arguments: Sequence[str], defaults: Mapping[str, Any]) -> bool:
    """Return True if the command line, the environment or a file asks for JSON.

    Args:
        arguments: Words of the command line, which may be wrong.
        defaults: Defaults from files by command and parameter.
    """
    if OPTION in arguments:
        return True
    words = [argument for argument in arguments if not argument.startswith("-")]
    if not words or words[0] not in VERBS:
        return False
    command, values = command_of(words[0]), defaults.get(words[0], {})
    parts = getattr(command, "commands", {})
    if len(words) > 1 and words[1] in parts:
        command, values = parts[words[1]], {}
    return any(
        _is_set(parameter, values) for parameter in command.params if OPTION in parameter.opts
    )


def _is_set(parameter: Any, values: Mapping[str, Any]) -> bool:  # noqa: ANN401 - Typer's own
    """Return True if the environment, or else a file, sets a flag."""
    variables = [os.environ.get(name) for name in parameter.envvar or ()]
    value = next(filter(None, variables), values.get(parameter.name, False))
    return str(value).strip().lower() in TRUE
