"""Executes one run of a study: of a workload, or of the host's hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.running.execute import execute
from assay.study.ceiling.measuring import measure_ceiling
from assay.study.ceiling.trials import CeilingRequest

if TYPE_CHECKING:
    from pathlib import Path

    from assay.running.telling import Teller
    from assay.study.variants import StudyRequest


def carried_out(request: StudyRequest, runs: Path, teller: Teller) -> Path:
    """Return the finished record of a workload's run, or of the host's hardware.

    Raises:
        UsageError: If the request names something that does not exist. In this case nothing was
            written.
        RunFailedError: If the run ended early. The partial record of a failed run is kept.
    """
    if isinstance(request, CeilingRequest):
        request.directory.mkdir(parents=True, exist_ok=True)
        return measure_ceiling(request, runs, teller)
    return execute(request, runs, teller)
