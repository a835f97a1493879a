"""Reports which host changes a run can make here, and which are in force."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.model.limit import NAMES
from assay.running.changes.device import why_not
from assay.running.changes.left_behind import CHANGE, left_behind
from assay.running.changes.limits.group import check
from assay.running.changes.limits.hierarchies import find_hierarchies
from assay.running.changes.read_ahead import device_read_ahead
from assay.running.changes.restoring import changed_now
from assay.running.host.ability import Ability, known
from assay.running.host.places import cache_dir, instances_dir

if TYPE_CHECKING:
    from pathlib import Path

    from assay.running.changes.limits.hierarchies import Hierarchies


def host_abilities() -> list[Ability]:
    """Return whether limits, read-ahead and a separate device are possible on this host."""
    instances = instances_dir()
    return [
        *known("limits", lambda: [limits(find_hierarchies())]),
        *known("read-ahead", lambda: [_read_ahead(instances)]),
        *known("own device", lambda: [_own_device()]),
        *known("changed now", lambda: _changed(instances)),
        *known("left behind", lambda: _left_behind(instances)),
    ]


def limits(hierarchies: Hierarchies) -> Ability:
    """Return which resource limits the host's control groups support."""
    works, why = [], ""
    for name in NAMES:
        try:
            check([name], hierarchies)
        except UsageError as error:
            why = why or str(error)
        else:
            works.append(name)
    if not works:
        return Ability("limits", "no", why)
    seen = ", ".join(works)
    return Ability("limits", "yes" if len(works) == len(NAMES) else "partly", seen, why)


def _read_ahead(instances: Path) -> Ability:
    try:
        device = device_read_ahead(instances)
    except UsageError as error:
        return Ability("read-ahead", "no", str(error))
    try:
        kib = device.read_ahead_file.read_text(encoding="ascii").strip()
    except OSError as error:
        return Ability("read-ahead", "no", f"{device.read_ahead_file}: {error.strerror}")
    seen = f"{kib} KiB on {device.name}"
    if os.access(device.read_ahead_file, os.W_OK):
        return Ability("read-ahead", "yes", f"{seen}, and can be set")
    return Ability("read-ahead", "no", seen, "run as root to have it set for a run")


def _own_device() -> Ability:
    if (why := why_not()) is not None:
        return Ability("own device", "no", why)
    seen = "a loop device with a file system can be made for a run"
    if (why := why_not(copied=True)) is not None:
        return Ability("own device", "partly", f"{seen}, and not be copied under load", why)
    return Ability("own device", "yes", f"{seen}, and be copied under load")


def _changed(instances: Path) -> list[Ability]:
    """Return a line for each run whose host changes are still in force."""
    abilities = []
    for left in changed_now(instances):
        text = f"{left.run}: {'; '.join(left.words)}"
        if left.whose == "live":
            abilities.append(Ability("changed now", "yes", f"{text} (by pid {left.owner_pid})"))
        elif left.whose == "guarded":
            note = f"{text} (its run is dead, its guardian puts it back)"
            abilities.append(Ability("changed now", "yes", note))
        else:
            mend = "`assay doctor --restore` puts it back"
            abilities.append(Ability("changed now", "partly", f"{text} (its run is dead)", mend))
    return abilities


def _left_behind(instances: Path) -> list[Ability]:
    """Return a line for each thing that a dead process left on this host."""
    # Changes of the host are listed separately.
    left = [remains for remains in left_behind(instances, cache_dir()) if remains.kind != CHANGE]
    if not left:
        return [Ability("left behind", "yes", "nothing of runs that are dead")]
    return [Ability("left behind", "partly", remains.description, remains.mend) for remains in left]
