"""Keeps the password that was typed at the terminal while the command is executed.

The password takes the same way as one in a DSN: it becomes part of the server's address, which
processes receive over sockets only. It is never in the environment.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterator

ASK_PASSWORD = "--ask-password"  # noqa: S105 - the name of an option


@dataclass
class _Typed:
    """The typed password of this process; None means that none was typed."""

    password: str | None = None


_typed = _Typed()


@contextmanager
def keep_typed(password: str) -> Iterator[None]:
    """Use a typed password for all addresses that are read within the context."""
    before = _typed.password
    _typed.password = password
    try:
        yield
    finally:
        _typed.password = before


def typed_password() -> str | None:
    """Return the typed password; None if none was typed."""
    return _typed.password


def password_for(in_dsn: str | None, variable: str | None = None) -> str | None:
    """Return the password for a server: that of the DSN, the typed one, or the variable's.

    Args:
        in_dsn: Password in the DSN; None if it has none.
        variable: Environment variable with a password; None if the engine's client reads it.

    Raises:
        EngineError: If the DSN has another password than the typed one.
    """
    if in_dsn is None:
        return _typed.password or (os.environ.get(variable) if variable else None)
    refuse_second(in_dsn)
    return in_dsn


def refuse_second(in_dsn: str) -> None:
    """Raise `EngineError` if a password was typed, and the DSN has another one."""
    # An address that was extended by session settings has the typed password.
    if _typed.password not in (None, in_dsn):
        raise EngineError(f"{ASK_PASSWORD}: the DSN already has a password: remove one of the two")
