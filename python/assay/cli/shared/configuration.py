"""Reads defaults of options from `assay.toml` here, then `$XDG_CONFIG_HOME/assay/config.toml`.

A file has one table per command, whose keys are the command's long options with `_` for `-`. Flags
take precedence, then `ASSAY_<VERB>_<OPTION>` in the environment, then these files. A key or a
variable that names no option is refused.

Options name programs that are executed, so a file that another user can write is refused.

    [run]
    engine = "duckdb"
    min_time = "10s"
"""

from __future__ import annotations

import errno
import os
import stat
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HERE = Path("assay.toml")


def defaults(verbs: Sequence[str], keys_of: Callable[[str], Mapping[str, str]]) -> dict[str, Any]:
    """Return defaults by command and parameter.

    Args:
        verbs: Names of the commands.
        keys_of: Returns the parameter of each key of a command.

    Raises:
        UsageError: If a file cannot be read, or a key does not exist; the message has the most
            similar key.
    """
    merged: dict[str, Any] = {}
    # The file in the current directory is read last, so that its values take precedence.
    for path in (_config_home() / "assay" / "config.toml", HERE):
        for verb, values in _read(path).items():
            _check(path, verb, verbs)
            if not isinstance(values, dict):
                raise UsageError(f"{path}: {verb} must be a TOML table: write [{verb}]")
            parameters = keys_of(verb)
            for key, value in values.items():
                _check(path, key, list(parameters), inside=f"[{verb}] ")
                merged.setdefault(verb, {})[parameters[key]] = value
    return merged


def _config_home() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _read(path: Path) -> dict[str, Any]:
    try:
        text = _own_text(path)
        return {} if text is None else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _own_text(path: Path) -> str | None:
    """Return the text of a file that only its owner, who is trusted, can write; None without one.

    Raises:
        UsageError: If another user can write the file, or made the link that leads to it.
        OSError: If the file cannot be read, or is not a regular file.
    """
    try:
        # Opening a pipe would wait.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, encoding="utf-8") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        strangers = {status.st_uid, path.lstat().st_uid} - _trusted_users()
        # Some systems make files writable for a group that has only its user.
        is_shared = status.st_mode & stat.S_IWGRP and status.st_gid != os.getegid()
        if strangers or is_shared or status.st_mode & stat.S_IWOTH:
            raise UsageError(
                f"{path.absolute()} can be written by another user, who could make Assay execute a "
                "program: remove it, start Assay in another directory, or make it your own (chown, "
                "chmod go-w)"
            )
        return file.read()


def _trusted_users() -> set[int]:
    """Return root, the user of this process, and the one who became root by `sudo`."""
    users = {0, os.geteuid()}
    behind = os.environ.get("SUDO_UID", "")
    if os.geteuid() == 0 and behind.isdecimal():
        users.add(int(behind))
    return users


def _check(path: Path, key: str, known_keys: Sequence[str], inside: str = "") -> None:
    if key not in known_keys:
        raise UsageError(
            f"{path}: {inside}unknown key {key!r}; {suggestion(key, list(known_keys))}"
        )
