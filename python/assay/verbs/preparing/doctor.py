"""`assay doctor`: shows what this host can measure, and the changes that runs made to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.running.changes.restoring import restore_left
from assay.running.host.abilities import examine
from assay.running.host.places import cache_dir, instances_dir, runs_dir
from assay.running.host.usable import state_errors

if TYPE_CHECKING:
    from assay.running.changes.restoring import Left
    from assay.running.host.ability import Ability


def doctor() -> list[Ability]:
    """Returns what can be measured on this host, what cannot and why, and how to allow more."""
    return examine(runs_dir(None), cache_dir())


def restore() -> list[Left]:
    """Reverts changes that dead runs left on this host; returns them and those that remain.

    Raises:
        UsageError: If this user cannot use the directory of state.
    """
    with state_errors():
        return restore_left(instances_dir())
