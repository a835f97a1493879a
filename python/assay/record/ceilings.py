"""Finds the newest measurement of a host's hardware speed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.model.errors import RecordUnreadableError
from assay.record.damage import damage_of
from assay.record.layout import KIND_CEILING
from assay.record.reader import Run, list_runs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# Facts that must be equal for a ceiling to apply: the machine, and the disk of the data.
SAME_HOST = ("host", "machine", "memory_bytes")


def newest_ceiling(runs_dir: Path, host: Mapping[str, Any] | None = None) -> Path | None:
    """Return the newest complete hardware measurement of a host; None without any.

    Args:
        runs_dir: Directory of records.
        host: The `host` object of a run's `environment.json`; None means any host. Ceilings of
            another machine, or of another disk than the one below `data_device`, are skipped.
    """
    for directory in reversed(list_runs(runs_dir)):
        # Ids name the kind, so that no other record is opened.
        if f"-{KIND_CEILING}-" not in directory.name:
            continue
        try:
            run = Run(directory)
            theirs = run.environment.get("host", {})
        except RecordUnreadableError:
            continue
        is_fit = run.kind == KIND_CEILING and run.complete and (host is None or _same(theirs, host))
        if is_fit and damage_of(directory) is None:
            return directory
    return None


def _same(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> bool:
    alike = all(theirs.get(key) == ours.get(key) for key in SAME_HOST)
    disks = [(host.get("data_device") or {}).get("disks") for host in (theirs, ours)]
    return alike and disks[0] == disks[1]
