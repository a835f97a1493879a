"""Runs of a study: a part and a round each, and by factor its level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.record.layout import KIND_CEILING

if TYPE_CHECKING:
    from assay.model.verdict import CheckResult
    from assay.record.reader import Run

# The factor of engines, and what the name of a factor begins with that is a setting.
ENGINE, SETTING = "engine", "set."


@dataclass(frozen=True)
class StudyRun:
    """One run of a study that ended well.

    Attributes:
        part: The part of the study that it is of.
        levels: Name of the level, by factor.
        round: Number of the round, from 1.
        run: Record of the run.
        checks: Results of its checks; empty if it was not checked.
    """

    part: str
    levels: Mapping[str, str]
    round: int
    run: Run
    checks: tuple[CheckResult, ...] = ()

    @property
    def is_ceiling(self) -> bool:
        """Return whether the run measures the host's ceilings and plays no workload."""
        return self.run.kind == KIND_CEILING
