"""Removes what killed runs and data loads left on this host, before the next run begins."""

from __future__ import annotations

from assay.running.changes.restoring import restore_left
from assay.running.data.datasets import DATASETS, DatasetCache
from assay.running.host.places import cache_dir, instances_dir
from assay.running.host.usable import cache_errors, state_errors


def remove_leftovers() -> None:
    """Revert host changes of dead runs, and remove their instances and incomplete data sets.

    Raises:
        UsageError: If this user cannot use the directory of state or of the cache.
    """
    with state_errors():
        restore_left(instances_dir())
    with cache_errors():
        DatasetCache(cache_dir() / DATASETS).sweep()
