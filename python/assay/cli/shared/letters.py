"""Parts of all verbs' options: their one-letter forms, and the line on environment variables."""

from __future__ import annotations

from typing import Any

from assay.cli.shared.completion import offer_values
from assay.running.asked.declaring import LETTERS

ENVIRONMENT = "Each option has a default in the environment, as {prefix}_<OPTION>."


def completed(command: Any, prefix: str) -> Any:  # noqa: ANN401 - Typer does not export its types
    """Return a command whose options have their letters, and whose help names no variable of each.

    Args:
        command: Command of a verb, or a group of them.
        prefix: Prefix of the variables that its options have a default in.
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
