"""Chooses the version of control groups for some limits, or says why no version works."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.running.changes.limits import first, second

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.running.changes.limits.contract import Group, Wish
    from assay.running.changes.limits.hierarchies import Hierarchies
    from assay.running.changes.undo import Journal


def group_of(wish: Wish, hierarchies: Hierarchies, journal: Journal) -> Group:
    """Return a control group with the requested limits; undoing the journal removes it.

    Raises:
        UsageError: If this host has no controller for them, or if Assay may not write to it.
        RunFailedError: If the kernel refuses a limit.
    """
    check(wish.limits, hierarchies)
    if (parent := second.parent_for(wish.limits, hierarchies)) is not None:
        return second.SecondGroup(wish, parent, journal)
    return first.FirstGroup(wish, hierarchies, journal)


def check(limits: Iterable[str], hierarchies: Hierarchies) -> None:
    """Raise `UsageError` if the host cannot set some limits; the message says what is missing."""
    limits = list(limits)
    if second.parent_for(limits, hierarchies) is not None:
        return
    missing = [name for name in limits if first.CONTROLLERS[name] not in hierarchies.first]
    if not missing:
        _check_writable(limits, hierarchies)
        return
    second_missing = [
        name for name in limits if second.CONTROLLERS[name] not in hierarchies.controllers()
    ]
    if not second_missing:
        raise UsageError(
            f"--limit {', '.join(limits)}: Assay may not create control groups in "
            f"{hierarchies.second} or its parents: run as root, or under"
            " `systemd-run --user --scope -p Delegate=yes`"
        )
    names = ", ".join(f"{name} ({second.CONTROLLERS[name]})" for name in second_missing)
    raise UsageError(
        f"--limit: this host has no control groups for {names}: mount version 2 at "
        "/sys/fs/cgroup with these controllers, or remove the limit; `assay doctor` shows the "
        "available controllers"
    )


def _check_writable(limits: Iterable[str], hierarchies: Hierarchies) -> None:
    for controller in first.needed_controllers(limits):
        group = hierarchies.first[controller]
        own = group / "assay"
        if not os.access(group, os.W_OK):
            raise UsageError(
                f"--limit: Assay may not create control groups in {group}: run as root, or let "
                "root create a group for you and move your shell into it"
                f" (`mkdir {own}; chown -R $USER {own};"
                f" echo SHELL_PID > {own}/cgroup.procs`). Never chown {group} itself: its owner "
                "can change the limits of all services in it"
            )
