"""Adds one-letter forms to options, and the line on environment variables to help."""

from __future__ import annotations

from typing import Any

from assay.cli.shared.completion import offer_values
from assay.running.asked.declaring import LETTERS

ENVIRONMENT = "Each option has a default in the environment, as {prefix}_<OPTION>."


def completed(command: Any, prefix: str) -> Any:  # noqa: ANN401 - Typer does not export its types
    """Return a command with one-letter options, whose help does not repeat a variable for each.

    Args:
        command: A command, or a group of commands.
        prefix: Prefix of the environment variables for its options.
    """
    for parameter in command.params:
        parameter.show_envvar = False
        offer_values(parameter)
        letters = [LETTERS[name] for name in parameter.opts if name in LETTERS]
        parameter.opts[:0] = [letter for letter in letters if letter not in parameter.opts]
    for name, part in getattr(command, "commands", {}).items():
        its = f"{prefix}_{name.upper().replace('-', '_')}"
        completed(part, its)
        part.epilog = part.epilog or ENVIRONMENT.format(prefix=its)
    return command
