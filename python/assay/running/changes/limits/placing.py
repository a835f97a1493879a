"""Chooses the CPUs of an engine whose number of CPUs is limited."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.model.limit import CPUS

if TYPE_CHECKING:
    from assay.running.asked.request import RunRequest


def cpus_for(request: RunRequest) -> list[int]:
    """Return CPUs for the engine, preferably not the client's; empty without a CPU limit.

    Raises:
        UsageError: If the host has fewer CPUs than the limit requests.
    """
    if CPUS not in request.limits:
        return []
    count = int(request.limits[CPUS])
    of_client = set(request.pin.get("client", ()))
    ours = sorted(os.sched_getaffinity(0), key=lambda cpu: (cpu in of_client, cpu))
    if count > len(ours):
        raise UsageError(
            f"--limit cpus={count}: Assay may use {len(ours)} CPUs: write a smaller number"
        )
    return sorted(ours[:count])
