"""Finds an earlier measurement of the host's hardware that a study can use."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.analysis.ceiling.trials import read_ceiling
from assay.record.ceilings import newest_ceiling
from assay.record.layout import STATUS_COMPLETE, STATUS_RUNNING
from assay.record.reader import Run, took_s
from assay.record.studies import write_study
from assay.study.ceiling.trials import CeilingRequest
from assay.study.several import Begun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.analysis.ceiling.trials import Ceiling
    from assay.study.variants import Study


@dataclass(frozen=True)
class Look:
    """An existing record of a host's hardware speed."""

    run: Run
    ceiling: Ceiling

    @property
    def request(self) -> CeilingRequest:
        """Return the request for which the hardware was measured."""
        facts = self.run.facts["request"]
        return CeilingRequest(**{**facts, "directory": Path(facts["directory"])})


def newest_look(runs: Path, like: Run) -> Look | None:
    """Return the newest hardware measurement of a run's host and disk; None without one."""
    directory = newest_ceiling(runs, like.environment.get("host"))
    if directory is None:
        return None
    run = Run(directory)
    return Look(run, read_ceiling(run))


def begin_with(directory: Path, study: Study, about: Mapping[str, Any], look: Look) -> None:
    """Write a study's file that begins with an existing run.

    Raises:
        RunFailedError: If the file cannot be written.
    """
    planned = next(
        planned
        for run in study.order()
        if run.request == look.request
        for planned in run.stands_for
    )
    begun = Begun(*planned, STATUS_COMPLETE, look.run.id, None, took_s(look.run))
    document = {**study.facts(), "status": STATUS_RUNNING, "spent_s": 0.0, "about": dict(about)}
    write_study(directory, {**document, "runs": [asdict(begun)]})
