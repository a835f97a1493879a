"""Names the directories of a run's processes, in addition to those of `assay.record.places`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.record.places import cache_dir, runs_dir, state_dir

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["cache_dir", "engines_dir", "instances_dir", "runs_dir", "state_dir"]


def engines_dir() -> Path:
    """Return the directory of downloaded engine products."""
    return cache_dir() / "engines"


def instances_dir() -> Path:
    """Return the parent of the instances' directories, one per active run."""
    return state_dir() / "instances"
