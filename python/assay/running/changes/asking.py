"""Refuses requested changes that this host does not allow, before anything is started."""

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
    """Refuse changes that contradict the request or are not possible on this host.

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
        raise UsageError("--copies are of a device of the run's own: say --device own, too")
    if (why := why_not(copied=True)) is not None:
        raise UsageError(f"--copies: {why}")


def _check_of_host(request: RunRequest, kind: str, option: str) -> None:
    """Refuse a change that affects the whole host without permission, or that has no effect."""
    if request.dsn is not None:
        raise UsageError(
            f"{option}: the files of a running server are its owner's; leave one of {option} and"
            " --dsn out"
        )
    if kind == "none":
        raise UsageError(f"{option}: {request.engine} keeps no data; leave it out")
    if not request.allow_host_changes:
        raise UsageError(
            f"{option} changes what others on this host may notice, for as long as the run takes:"
            " say --allow-host-changes, too"
        )


def _check_read_ahead(request: RunRequest) -> None:
    if request.own_device:
        return
    file = device_read_ahead(instances_dir()).read_ahead_file
    if not os.access(file, os.W_OK):
        raise UsageError(f"--read-ahead: {file} is not ours to write: run as root, or leave it out")


def _check_limits(request: RunRequest, kind: str) -> None:
    names = ", ".join(request.limits)
    if request.dsn is not None:
        raise UsageError(
            f"--limit {names}: a running server is not ours to limit; leave one of --limit and"
            " --dsn out"
        )
    if kind == "none":
        raise UsageError(f"--limit {names}: {request.engine} is no process; leave it out")
    if CPUS in request.limits and "engine" in request.pin:
        raise UsageError("--limit cpus and --pin engine say the same: leave one of the two out")
    if any(name in OF_DISK for name in request.limits) and not request.own_device:
        device_below(instances_dir())
    cpus_for(request)
    check(request.limits, find_hierarchies())
