"""Writes settings into a server's configuration file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from assay.engines.contract import EngineError

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLES = "system_variables"
# Top-level keys of the file; other names without a dot are system variables.
PLAIN = frozenset(
    {
        "branch_control_file",
        "cfg_dir",
        "data_dir",
        "encode_logged_query",
        "log_format",
        "log_level",
        "max_logged_query_len",
        "privilege_file",
    }
)
# Settings that Assay controls, such as the server's port and directories.
OURS = (
    "branch_control_file",
    "cfg_dir",
    "data_dir",
    "listener.host",
    "listener.port",
    "listener.socket",
    "metrics.host",
    "metrics.port",
    "privilege_file",
    "secure_file_priv",
)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)")
_TRUTHS = {"true": True, "false": False}


def is_variable(name: str) -> bool:
    """Return True if a Dolt setting is a system variable and not a key of the file."""
    return "." not in name and name not in PLAIN


def is_number(value: str) -> bool:
    """Return True if a value is a whole number."""
    return _NUMBER.fullmatch(value) is not None


def refuse_ours(settings: Mapping[str, str]) -> None:
    """Raise `EngineError` for a setting that Assay controls on a private server."""
    for name in settings:
        if name.lower() in OURS:
            raise EngineError(
                f"Assay itself sets {name} on a server that it starts: remove it, or start the"
                " server yourself and name it with --dsn."
            )


def configured(settings: Mapping[str, str]) -> str:
    """Return the text of Dolt's configuration file with these settings.

    A name with dots leads through sections of the file. A name without dots is a system variable or
    a top-level key.
    """
    tree: dict[str, Any] = {}
    for name, value in settings.items():
        *sections, key = [VARIABLES, name.lower()] if is_variable(name) else name.split(".")
        place = tree
        for section in sections:
            place = place.setdefault(section, {})
            if not isinstance(place, dict):
                raise EngineError(
                    f"--set {name}: {section} is not a section of the configuration file"
                )
        place[key] = _value(value)
    # A dollar sign starts the name of an environment variable.
    return json.dumps(tree, indent=2).replace("$", "$$")


def _value(text: str) -> str | int | bool:
    if is_number(text):
        return int(text)
    return _TRUTHS.get(text, text)
