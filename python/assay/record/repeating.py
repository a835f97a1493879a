"""Finds the options of a recorded run that have to be given again when the run is repeated.

Records hold no password. A record may also come from somebody else, so it does not decide which
programs are executed and which databases are changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.model.secrets import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Mapping

# Fields of a request with which a run changes the database of a running server.
CHANGES = ("allow_writes", "prepare", "changes", "undo")


def options_to_give(request: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the options to give again, with their recorded values.

    Args:
        request: `request` of run.json.
    """
    dsn, bin_dir = request.get("dsn"), request.get("bin_dir")
    has_password = dsn is not None and HIDDEN in dsn
    changes_database = dsn is not None and any(request.get(name) for name in CHANGES)
    options = {
        "--dsn": [dsn] if has_password or changes_database else [],
        "--bin-dir": [bin_dir] if bin_dir else [],
        "--driver": list(request.get("drivers") or ()),
    }
    return {option: values for option, values in options.items() if values}


def options_words(request: Mapping[str, Any]) -> str:
    """Return these options for a command, without their values; empty if there are none."""
    return "".join(f" {option} ..." for option in options_to_give(request))
