"""Adds one-letter forms and environment variables to options, and a line on these to help.

Every parameter also completes its values in a shell, and refuses an empty one.
"""

from __future__ import annotations

from typing import Any

from assay.cli.shared.completion import offer_values
from assay.cli.shared.empty import refuse_empty
from assay.cli.shared.names import prefix_of, variables_of
from assay.running.asked.declaring import LETTERS

ENVIRONMENT = "Each option has a default in the environment, as {prefix}_<OPTION>."


def completed(command: Any, *names: str) -> Any:  # noqa: ANN401 - Typer does not export its types
    """Return a command with one-letter options, and with a variable for each option.

    The help does not repeat the variables.

    Args:
        command: A command, or a group of commands.
        names: Name of the command; for a subcommand, the group's name is before it.
    """
    prefix = prefix_of(*names)
    for parameter in command.params:
        parameter.show_envvar = False
        parameter.envvar = variables_of(parameter, prefix) or None
        offer_values(parameter)
        refuse_empty(parameter)
        letters = [LETTERS[name] for name in parameter.opts if name in LETTERS]
        parameter.opts[:0] = [letter for letter in letters if letter not in parameter.opts]
    for name, part in getattr(command, "commands", {}).items():
        completed(part, *names, name)
        part.epilog = part.epilog or ENVIRONMENT.format(prefix=prefix_of(*names, name))
    return command
