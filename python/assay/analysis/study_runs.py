"""The runs of a study, each with its section, round and factor levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.record.layout import KIND_CEILING

if TYPE_CHECKING:
    from assay.model.verdict import CheckResult
    from assay.record.reader import Run

# Name of the factor for engines, and prefix of factors that are settings.
ENGINE, SETTING = "engine", "set."


@dataclass(frozen=True)
class StudyRun:
    """One successful run of a study.

    Attributes:
        part: The part of the study to which the run belongs.
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
        """True if the run measured the host's ceilings, without a workload."""
        return self.run.kind == KIND_CEILING
