"""Names the directories of a run's processes, beside those of `assay.record.places`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.record.places import cache_dir, runs_dir, state_dir

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["cache_dir", "engines_dir", "instances_dir", "runs_dir", "state_dir"]


def engines_dir() -> Path:
    """Engines that were obtained."""
    return cache_dir() / "engines"


def instances_dir() -> Path:
    """Parent of the live instances' directories, one a run."""
    return state_dir() / "instances"
