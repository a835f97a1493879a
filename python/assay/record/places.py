"""The directories in which Assay keeps runs, cache and state.

A relative path in an XDG variable is ignored, as the XDG base directory specification requires. A
wrong variable therefore creates no directory in the current one.

Servers never run as root, and their user cannot read root's home directory. Without XDG variables,
root's files are therefore in the directories that the file system standard has for programs.
"""

from __future__ import annotations

import os
from pathlib import Path


def runs_dir(flag: str | Path | None = None) -> Path:
    """Return the directory of run records: the `--runs` flag, else `$ASSAY_RUNS`, else `./runs`."""
    return Path(flag or os.environ.get("ASSAY_RUNS") or "runs")


def cache_dir() -> Path:
    """Return the directory of data that can be generated again: `$XDG_CACHE_HOME/assay`."""
    return _xdg("XDG_CACHE_HOME", ".cache", "/var/cache") / "assay"


def state_dir() -> Path:
    """Return the directory of lasting state other than records: `$XDG_STATE_HOME/assay`."""
    return _xdg("XDG_STATE_HOME", ".local/state", "/var/lib") / "assay"


def _xdg(variable: str, default: str, default_of_root: str) -> Path:
    value = Path(os.environ.get(variable, ""))
    if value.is_absolute():
        return value
    return Path(default_of_root) if os.geteuid() == 0 else Path.home() / default
