"""Refuses requested host changes that are not possible here, before anything starts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.model.limit import CPUS, OF_DISK
from assay.running.changes.block_device import device_below
from assay.running.changes.device import why_not
from assay.running.changes.limits.group import check
from assay.running.changes.limits.hierarchies import find_hierarchies
from assay.running.changes.limits.placing import cpus_for
from assay.running.changes.read_ahead import device_read_ahead
from assay.running.host.places import instances_dir

if TYPE_CHECKING:
    from assay.running.asked.request import RunRequest


def check_conditions(request: RunRequest, kind: str) -> None:
    """Refuse host changes that contradict the request or are not possible here.

    Args:
        request: The request of the run.
        kind: Kind of engine: `embedded`, `server` or `none`.

    Raises:
        UsageError: If a change cannot be made. The error message says how to allow it.
    """
    if request.limits:
        _check_limits(request, kind)
    if request.read_ahead_bytes is not None:
        _check_of_host(request, kind, "--read-ahead")
        _check_read_ahead(request)
    if request.own_device:
        _check_of_host(request, kind, "--device")
        if (why := why_not()) is not None:
            raise UsageError(f"--device own: {why}")
    if request.copies:
        _check_copies(request)


def _check_copies(request: RunRequest) -> None:
    if not request.own_device:
        raise UsageError("--copies needs a private loop device: add --device own")
    if (why := why_not(copied=True)) is not None:
        raise UsageError(f"--copies: {why}")


def _check_of_host(request: RunRequest, kind: str, option: str) -> None:
    """Refuse a change to the whole host without permission, or one without effect."""
    if request.dsn is not None:
        raise UsageError(
            f"{option}: Assay does not move the files of a running server: remove {option} or --dsn"
        )
    if kind == "none":
        raise UsageError(f"{option}: {request.engine} stores no data: remove {option}")
    if not request.allow_host_changes:
        raise UsageError(
            f"{option} may affect other programs on this host during the run: add "
            "--allow-host-changes to permit it"
        )


def _check_read_ahead(request: RunRequest) -> None:
    if request.own_device:
        return
    file = device_read_ahead(instances_dir()).read_ahead_file
    if not os.access(file, os.W_OK):
        raise UsageError(
            f"--read-ahead: Assay may not write {file}: run as root, or remove --read-ahead"
        )


def _check_limits(request: RunRequest, kind: str) -> None:
    names = ", ".join(request.limits)
    if request.dsn is not None:
        raise UsageError(
            f"--limit {names}: Assay does not limit a running server: remove --limit or --dsn"
        )
    if kind == "none":
        raise UsageError(
            f"--limit {names}: {request.engine} has no process of its own: remove --limit"
        )
    if CPUS in request.limits and "engine" in request.pin:
        raise UsageError(
            "--limit cpus and --pin engine have the same effect: remove one of the two"
        )
    if any(name in OF_DISK for name in request.limits) and not request.own_device:
        device_below(instances_dir())
    cpus_for(request)
    check(request.limits, find_hierarchies())
