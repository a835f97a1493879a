"""`assay cache`: the data sets that are kept for later runs, and which of them go."""

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

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.running.data.kept_datasets import KeptDataset


@dataclass(frozen=True)
class CachedData:
    """Data sets of this user.

    Attributes:
        directory: Where they are.
        limit_bytes: Space that they may take together; making one removes those that were used
            longest ago until they do.
        datasets: Those that are kept, the one that was used last at the end.
        removed: Those that were removed by this call.
        debris: Files and directories of killed processes that were removed by this call.
    """

    directory: Path
    limit_bytes: int
    datasets: tuple[KeptDataset, ...]
    removed: tuple[KeptDataset, ...] = ()
    debris: tuple[str, ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """Return what `assay cache --json` prints."""
        return {
            "directory": str(self.directory),
            "limit_bytes": self.limit_bytes,
            "bytes": sum(dataset.bytes for dataset in self.datasets),
            "datasets": _rows(self.datasets),
            "removed": _rows(self.removed),
            "debris": list(self.debris),
        }


def cache() -> CachedData:
    """Returns the data sets that are kept, with their size and when a run last used them.

    Raises:
        UsageError: If `ASSAY_CACHE_KEEP` is no size.
    """
    root = cache_dir() / DATASETS
    return CachedData(root, limit_bytes(root), tuple(kept_datasets(root)))


def prune(keep: str | int | None = None) -> CachedData:
    """Removes the data sets that were used longest ago, and what killed processes left.

    A data set that a run uses at this moment stays. A run makes anew what it needs.

    Args:
        keep: Space that those left may take together, in bytes or as a size such as `20GB`; None:
            as much as making a data set leaves them.

    Raises:
        UsageError: If it is no size.
    """
    root = cache_dir() / DATASETS
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
