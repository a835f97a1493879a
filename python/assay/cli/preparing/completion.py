"""`assay completion`: prints a script for the shell that completes commands and names."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.shared.output import say


def completion(
    shell: Annotated[str, typer.Argument(help="Your shell.", metavar="bash|zsh|fish")],
) -> None:
    """Prints a script with which a shell completes commands when Tab is pressed.

    The shell then completes commands, options, engines, workloads, operations, studies and run ids.

    \b
    Examples:
      eval "$(assay completion bash)"          in this shell only
      assay completion bash > ~/.local/share/bash-completion/completions/assay
      assay completion zsh > ~/.zfunc/_assay
      assay completion fish > ~/.config/fish/completions/assay.fish
    """
    from assay.verbs.preparing.completion import completion as script_of

    say(script_of(shell))
