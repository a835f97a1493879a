"""Adds `--ask-password` to commands that use a running server, and reads the password."""

from __future__ import annotations

import os
import warnings
from getpass import GetPassWarning, getpass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.model.errors import UsageError
from assay.running.asked.declaring import declared, long_name
from assay.running.asked.password_option import PasswordOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY = "ask_password"
OPTION = long_name(KEY)
TERMINAL = "/dev/tty"
DSN = "dsn"
# Commands that find the server's address in a study file or in a recorded run.
WITHOUT_DSN = ("study", "try", "diagnose")


def with_password_option(command: Any) -> Any:  # noqa: ANN401 - Typer does not export its types
    """Return a command, with `--ask-password` if it uses running servers."""
    names = {parameter.name for parameter in command.params}
    if DSN in names or command.name in WITHOUT_DSN:
        command.params += typer.main.get_command(_carrier()).params
    return command


def is_asked(ctx: Any) -> bool:  # noqa: ANN401 - Typer's own
    """Return True if a command has to ask for a password.

    An option of the environment or of a file has no effect without a running server.
    """
    source = ctx.get_parameter_source(KEY)
    is_given = source is not None and source.name == "COMMANDLINE"
    return bool(ctx.meta.get(KEY)) and (is_given or _has_server(ctx.info_name, ctx.params))


def read_password(command: str, parameters: Mapping[str, Any]) -> str:
    """Return the password that was typed at the terminal, which does not show it.

    Args:
        command: Name of the command.
        parameters: Values of the command's options by name.

    Raises:
        UsageError: If no server is named, there is no terminal, or nothing was typed.
    """
    if not _has_server(command, parameters):
        raise UsageError(
            f"{OPTION} needs --dsn: Assay itself sets the password of a server that it starts."
            f" Remove {OPTION}, or name a running server with --dsn"
        )
    try:
        os.close(os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY))
        with warnings.catch_warnings():
            # Without control of the terminal, the password would be shown.
            warnings.simplefilter("error", GetPassWarning)
            password = getpass("Password of the server: ")
    except (OSError, GetPassWarning):
        raise UsageError(
            f"{OPTION}: there is no terminal to ask at: give the password in the environment or"
            " in a file (see docs/own/your-own-database.md)"
        ) from None
    except (EOFError, UnicodeError):
        raise UsageError(f"{OPTION}: no password was typed") from None
    if not password:
        raise UsageError(f"{OPTION}: no password was typed")
    return password


def _has_server(command: str, parameters: Mapping[str, Any]) -> bool:
    return parameters.get(DSN) is not None or command in WITHOUT_DSN


def _note(context: typer.Context, value: bool) -> bool:
    """Keep the option's value; the command asks after all options are read."""
    context.meta[KEY] = value
    return value


_FIELD = PasswordOptions.model_fields[KEY]
_DECLARED = declared(_FIELD)
assert _DECLARED is not None  # noqa: S101 - declared beside the field
AskPassword = Annotated[
    bool,
    typer.Option(
        OPTION,
        help=_DECLARED.help,
        rich_help_panel=_DECLARED.group,
        callback=_note,
        expose_value=False,
    ),
]


def _carrier() -> typer.Typer:
    """Return an application with one command, which has only the option."""

    def command(*, ask_password: AskPassword = False) -> None:
        del ask_password

    application = typer.Typer(add_completion=False)
    application.command()(command)
    return application
