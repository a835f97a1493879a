"""Reads defaults of options from `assay.toml` here, then `$XDG_CONFIG_HOME/assay/config.toml`.

A file has one table per command, whose keys are the command's long options with `_` for `-`. Flags
take precedence, then `ASSAY_<VERB>_<OPTION>` in the environment, then these files.

    [run]
    engine = "duckdb"
    min_time = "10s"
"""

from __future__ import annotations

import os
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
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _check(path: Path, key: str, known_keys: Sequence[str], inside: str = "") -> None:
    if key not in known_keys:
        raise UsageError(
            f"{path}: {inside}unknown key {key!r}; {suggestion(key, list(known_keys))}"
        )
