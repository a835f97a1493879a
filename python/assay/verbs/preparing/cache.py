"""`assay cache`: lists the data sets cached for later runs, and removes old ones."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from assay.running.data.kept_datasets import (
    DATASETS,
    evict,
    kept_datasets,
    limit_bytes,
    parse_keep,
    sweep,
)
from assay.running.host.places import cache_dir
from assay.running.host.usable import cache_errors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.running.data.kept_datasets import KeptDataset


@dataclass(frozen=True)
class CachedData:
    """The cached data sets of the current user.

    Attributes:
        directory: Directory of the data sets.
        limit_bytes: Space that all data sets may take together. When a new one exceeds it, the
            least recently used ones are removed.
        datasets: Cached data sets. The most recently used one is last.
        removed: Data sets that this call removed.
        debris: Files and directories of killed processes that this call removed.
    """

    directory: Path
    limit_bytes: int
    datasets: tuple[KeptDataset, ...]
    removed: tuple[KeptDataset, ...] = ()
    debris: tuple[str, ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """Return the document that `assay cache --json` prints."""
        return {
            "directory": str(self.directory),
            "limit_bytes": self.limit_bytes,
            "bytes": sum(dataset.bytes for dataset in self.datasets),
            "datasets": _rows(self.datasets),
            "removed": _rows(self.removed),
            "debris": list(self.debris),
        }


def cache() -> CachedData:
    """Returns the cached data sets, with their size and last use by a run.

    Raises:
        UsageError: If `ASSAY_CACHE_KEEP` is not a valid size, or the cache cannot be read.
    """
    root = cache_dir() / DATASETS
    with cache_errors():
        return CachedData(root, limit_bytes(root), tuple(kept_datasets(root)))


def prune(keep: str | int | None = None) -> CachedData:
    """Removes the least recently used data sets, and files that killed processes left.

    A data set that a run currently uses is kept. Later runs generate missing data sets again.

    Args:
        keep: Space that the remaining data sets may take together, in bytes or as a size such as
            `20GB`; None means the limit that also applies to new data sets.

    Raises:
        UsageError: If `keep` is not a valid size, or the cache cannot be changed.
    """
    root = cache_dir() / DATASETS
    with cache_errors():
        keep_bytes = limit_bytes(root) if keep is None else parse_keep("--keep", str(keep))
        debris = sweep(root)
        removed = evict(root, keep_bytes)
        left = tuple(kept_datasets(root))
        return CachedData(root, limit_bytes(root), left, tuple(removed), tuple(debris))


def _rows(datasets: Sequence[KeptDataset]) -> list[dict[str, Any]]:
    return [
        {**asdict(dataset), "used": datetime.fromtimestamp(dataset.used_s, UTC).isoformat()}
        for dataset in datasets
    ]
