"""Lists the cached data sets, and removes the least recently used ones."""

from __future__ import annotations

import logging
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.model.units import size_bytes
from assay.running.data.dataset_lock import locked_if_free, locked_names
from assay.running.processes.shared_memory import remove_below

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

log = logging.getLogger(__name__)

DATASETS = "datasets"
MANIFEST = "manifest.json"
PARTIAL = ".partial"
KEEP_VARIABLE = "ASSAY_CACHE_KEEP"
# Share of the space without data sets; the rest is for copies of runs.
KEEP_SHARE = 0.5
BLOCK_BYTES = 512  # unit of `st_blocks`, whatever the file system's block size


@dataclass(frozen=True)
class KeptDataset:
    """A cached data set that a run can use or make again.

    Attributes:
        name: Name of its directory: workload, scale, engine, and a digest of all it depends on.
        bytes: Space on the disk.
        used_s: Time of the last copy for a run, in seconds since 1970.
    """

    name: str
    bytes: int
    used_s: float


def kept_datasets(root: Path) -> list[KeptDataset]:
    """Return the cached data sets below a directory, the most recently used last."""
    places = (root / name for name in complete_names(root))
    kept = [dataset for dataset in map(_kept, places) if dataset is not None]
    return sorted(kept, key=lambda dataset: dataset.used_s)


def complete_names(root: Path) -> list[str]:
    """Return the names of complete cached data sets."""
    return [path.name for path in _directories(root) if not path.name.endswith(PARTIAL)]


def note_use(place: Path) -> None:
    """Record that a cached data set was just used."""
    os.utime(place / MANIFEST)


def asked_limit_bytes() -> int | None:
    """Return the bytes that `ASSAY_CACHE_KEEP` allows for data sets; None if it is not set.

    Raises:
        UsageError: If its value is not a valid size.
    """
    asked = os.environ.get(KEEP_VARIABLE)
    return parse_keep(KEEP_VARIABLE, asked) if asked else None


def limit_bytes(root: Path) -> int:
    """Return the bytes that all cached data sets may take together.

    The limit is the value of `ASSAY_CACHE_KEEP`, or else half of the space that would be free
    without data sets.

    Raises:
        UsageError: If `ASSAY_CACHE_KEEP` is not a valid size.
    """
    asked_bytes = asked_limit_bytes()
    if asked_bytes is not None:
        return asked_bytes
    return round(space_bytes(root) * KEEP_SHARE)


def space_bytes(root: Path) -> int:
    """Return the bytes that would be free on the cache's disk without any data set."""
    existing = next(path for path in [root.absolute(), *root.absolute().parents] if path.exists())
    kept_bytes = sum(dataset.bytes for dataset in kept_datasets(root))
    return shutil.disk_usage(existing).free + kept_bytes


def parse_keep(option: str, text: str) -> int:
    """Return the bytes of a size such as `20GB`.

    Raises `UsageError`.
    """
    size = size_bytes(text)
    if size is None:
        raise UsageError(f"{option} {text}: write a size, such as 20GB, or 0 to keep no data sets")
    return size


def evict(root: Path, keep_bytes: int, spared: str | None = None) -> list[KeptDataset]:
    """Remove cached data sets until the others take at most `keep_bytes`.

    The least recently used one is removed first. A data set that a run is copying or making stays,
    and so does the one named `spared`.
    """
    kept = kept_datasets(root)
    total_bytes, removed = sum(dataset.bytes for dataset in kept), []
    for dataset in kept:
        if total_bytes <= keep_bytes:
            break
        if dataset.name != spared and _remove(root, dataset.name):
            total_bytes -= dataset.bytes
            removed.append(dataset)
    return removed


def partial_names(root: Path) -> list[str]:
    """Return the names of cached data sets that are incomplete or being made."""
    paths = _directories(root, f"*{PARTIAL}")
    return sorted(path.name.removesuffix(PARTIAL) for path in paths)


def sweep(root: Path) -> list[str]:
    """Remove incomplete cached data sets and locks that killed processes left.

    Returns:
        The result is the names of removed files and directories.
    """
    partial, locks = set(partial_names(root)), set(locked_names(root))
    removed = []
    for name in sorted(partial | locks):
        # Releasing the lock deletes its file.
        with locked_if_free(root, name) as is_free:
            if is_free:
                removed += [f".{name}.lock"] * (name in locks)
                removed += [f"{name}{PARTIAL}"] * (name in partial)
                remove_partial(root / f"{name}{PARTIAL}")
    return removed


def remove_partial(partial: Path) -> None:
    """Remove the files and shared memory that a killed data load left."""
    remove_below(partial)
    shutil.rmtree(partial, ignore_errors=True)


def _remove(root: Path, name: str) -> bool:
    """Remove a cached data set; return False if a run uses it."""
    partial = root / f"{name}{PARTIAL}"
    with locked_if_free(root, name) as is_free:
        if not is_free:
            return False
        try:
            shutil.rmtree(partial, ignore_errors=True)
            # A partly removed directory has the name of an incomplete data set, so the next sweep
            # removes the rest.
            (root / name).rename(partial)
            shutil.rmtree(partial)
        except OSError as error:
            log.warning("the data set %s cannot be removed: %s", name, error)
            return False
        return True


def _directories(root: Path, pattern: str = "*") -> Iterator[Path]:
    # A pattern matches nothing in a directory that this user cannot read.
    with suppress(FileNotFoundError):
        os.scandir(root).close()
    return (path for path in root.glob(pattern) if path.is_dir() and not path.is_symlink())


def _kept(place: Path) -> KeptDataset | None:
    """Return the facts of a cached data set; None if it was removed meanwhile."""
    manifest = place / MANIFEST
    try:
        used_s = (manifest if manifest.is_file() else place).stat().st_mtime
    except FileNotFoundError:
        return None
    return KeptDataset(place.name, _disk_bytes(place), used_s)


def _disk_bytes(place: Path) -> int:
    blocks = 0
    for directory, _, files in os.walk(place):
        for file in files:
            with suppress(FileNotFoundError):
                blocks += os.lstat(os.path.join(directory, file)).st_blocks  # noqa: PTH118 - thousands
    return blocks * BLOCK_BYTES
