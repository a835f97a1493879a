"""Where Assay keeps things: runs, cache, state.

The XDG base directory specification asks that a relative path in one of its variables is ignored;
that is done here, so that a wrong variable never scatters directories over the current one.
"""

from __future__ import annotations

import os
from pathlib import Path

from assay.record.places import runs_dir

__all__ = ["cache_dir", "instances_dir", "runs_dir", "state_dir"]


def cache_dir() -> Path:
    """Engines, data sets and answers that can be obtained again: `$XDG_CACHE_HOME/assay`."""
    return _xdg("XDG_CACHE_HOME", ".cache") / "assay"


def state_dir() -> Path:
    """What must outlive one command but is no record: `$XDG_STATE_HOME/assay`."""
    return _xdg("XDG_STATE_HOME", ".local/state") / "assay"


def instances_dir() -> Path:
    """Parent of the live instances' directories, one a run."""
    return state_dir() / "instances"


def _xdg(variable: str, default: str) -> Path:
    value = Path(os.environ.get(variable, ""))
    return value if value.is_absolute() else Path.home() / default
