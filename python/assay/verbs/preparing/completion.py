"""`assay completion`: prints the script with which a shell completes commands of Assay."""

from __future__ import annotations

from importlib import import_module

from assay.model.errors import UsageError, suggestion

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "assay"


def completion(shell: str) -> str:
    """Return the script by which a shell completes `assay` commands.

    Args:
        shell: bash, zsh or fish.

    Raises:
        UsageError: If Assay has no script for this shell.
    """
    if shell not in SHELLS:
        raise UsageError(f"no completion for the shell {shell!r}; {suggestion(shell, [*SHELLS])}")
    script: str = import_module("typer.completion").get_completion_script(
        prog_name=PROGRAM, complete_var=f"_{PROGRAM.upper()}_COMPLETE", shell=shell
    )
    return script
