"""Refuses data sets that do not fit on the disk, before they are generated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.model.units import bytes_text
from assay.record.places import cache_dir
from assay.running.data.kept_datasets import DATASETS, space_bytes

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.running.asked.request import RunRequest
    from assay.workloads.contract import Workload

# Minimum bytes of data for one unit of scale in any engine. They are not in manifests, because a
# changed manifest changes the identity of the data.
BYTES_PER_SCALE = {"tpch": 100e6, "ssb": 60e6, "tpcc": 40e6}
# Below this size the disk is not checked.
ALWAYS_BYTES = 1e9


def check_space(request: RunRequest, workload: Workload, engine: EngineFolder) -> None:
    """Refuse a scale whose data are larger than the available space on the disk.

    Raises:
        UsageError: If the data do not fit. The error message has both sizes.
    """
    of_scale = BYTES_PER_SCALE.get(workload.data.facts.name)
    if of_scale is None or request.dsn is not None or not engine.facts.answers:
        return
    needed_bytes, place = of_scale * request.scale, cache_dir() / DATASETS
    if needed_bytes <= ALWAYS_BYTES:
        return
    room_bytes = space_bytes(place)
    if needed_bytes > room_bytes:
        raise UsageError(
            f"--scale {request.scale:g}: the data needs {bytes_text(needed_bytes)} at least, "
            f"and the disk of {place} has {bytes_text(room_bytes)} free: use a smaller scale, "
            "or name another disk with XDG_CACHE_HOME"
        )
