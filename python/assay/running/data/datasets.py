"""Caches loaded data by workload, scale, engine, version, language and load order.

A data set is an engine's data directory as it was after loading, with a manifest: rows and checksum
of each table as generated, SHA-256 of each file. A data set is made in a temporary directory and
renamed when complete, so an interrupted load leaves no incomplete data set. Runs use a copy, which
is verified while it is made. A data set belongs to Assay's user, who alone can read its data. After
a new one is made, the least recently used ones are removed until all fit into their limit.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.model.errors import RunFailedError
from assay.model.units import bytes_text
from assay.record.writer import write_json
from assay.running.data.dataset_files import (
    DATA,
    DIRECTORY_MODE,
    DamagedDataError,
    copy_hashed,
    described,
    directories,
    is_taken,
    links,
    take,
)
from assay.running.data.dataset_lock import locked, locked_if_free
from assay.running.data.kept_datasets import (
    DATASETS,
    MANIFEST,
    PARTIAL,
    asked_limit_bytes,
    complete_names,
    evict,
    limit_bytes,
    note_use,
    remove_partial,
    sweep,
)
from assay.running.server.instances import directory_mode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from assay.model.language import Language
    from assay.running.data.kept_datasets import KeptDataset

__all__ = ["DATASETS", "MANIFEST", "PARTIAL", "DamagedDataError", "DatasetCache", "DatasetKey"]

log = logging.getLogger(__name__)

WRITERS = 8
FORMAT = 2


@dataclass(frozen=True)
class DatasetKey:
    """The inputs that the content of a cached data set depends on.

    Attributes:
        generators_version: Version of the generators; None means its rows are not generated.
        order: Requested order of rows and tables; empty means none.
        foreign_keys: Whether there are foreign keys.
        language: Query language, which decides between tables and triples; None if the workload has
            only one.
    """

    workload: str
    data_hash: str
    scale: float
    engine: str
    version: str
    refresh_sets: int = 0
    generators_version: int | str | None = None
    order: Mapping[str, Any] = field(default_factory=dict)
    foreign_keys: bool = False
    language: Language | None = None

    @property
    def name(self) -> str:
        """The directory name of a cached data set: a readable part and a unique suffix."""
        parts = [FORMAT, self.data_hash, self.scale, self.engine, self.version]
        parts += [self.refresh_sets] if self.refresh_sets else []
        parts += [] if self.generators_version is None else [f"rows {self.generators_version}"]
        parts += [self.order] if self.order else []
        parts += ["foreign keys"] if self.foreign_keys else []
        parts += [] if self.language is None else [self.language]
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
        return f"{self.workload}-{self.scale:g}-{self.engine}-{digest}"


class DatasetCache:
    """The cache of data sets below one directory, for any number of processes.

    `waiting` is called when another process makes or copies the same data. `removed` is called for
    each data set that is removed to make space for a new one.
    """

    def __init__(
        self,
        root: Path,
        waiting: Callable[[], None] = lambda: None,
        removed: Callable[[KeptDataset], None] = lambda _: None,
    ) -> None:
        self._root = root
        self._waiting = waiting
        self._removed = removed
        # An invalid limit is refused before a data set is made.
        asked_limit_bytes()

    def copy_to(
        self,
        key: DatasetKey,
        target: Path,
        make: Callable[[Path], dict[str, Any]],
        house: Callable[[int], None] = lambda _: None,
    ) -> dict[str, Any]:
        """Copy a cached data set to `target`, made first if needed; return its manifest.

        `make` fills an empty directory and returns the content of the manifest. A damaged data set
        is made again, once. `house` is called once with the number of bytes, before they are copied
        to the target.

        Raises:
            RunFailedError: If the disk is full or not writable.
        """
        place = self._root / key.name
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            with locked(self._root, key.name, self._waiting):
                if not (place / MANIFEST).is_file():
                    self._make(place, make)
                house(_bytes_of(place))
                return self._copied(place, target, make)
        except OSError as error:
            where = error.filename or self._root
            raise RunFailedError(
                f"the data cannot be stored in {where}: {error.strerror}. Free some space, or set"
                " XDG_CACHE_HOME (data sets) and XDG_STATE_HOME (the copy of a run) to "
                "directories with more space."
            ) from error

    def _copied(
        self, place: Path, target: Path, make: Callable[[Path], dict[str, Any]]
    ) -> dict[str, Any]:
        try:
            manifest = _copy_verified(place, target)
        except DamagedDataError as error:
            log.warning(
                "the stored data set %s is damaged (%s), so Assay makes it again", place, error
            )
            shutil.rmtree(place)
            shutil.rmtree(target, ignore_errors=True)
            self._make(place, make)
            manifest = _copy_verified(place, target)
        note_use(place)
        return manifest

    def _make(self, place: Path, make: Callable[[Path], dict[str, Any]]) -> None:
        partial = place.with_name(place.name + PARTIAL)
        # Only the holder of the lock is here, so files of an interrupted load or removal are
        # garbage.
        remove_partial(partial)
        _make_directories(partial)
        shutil.rmtree(place, ignore_errors=True)
        try:
            begun_s = time.monotonic()
            facts = make(partial / DATA)
            facts["seconds"] = time.monotonic() - begun_s
            _take_new(partial)
            facts["files"] = described(partial)
            facts["directories"] = directories(partial)
            facts["links"] = links(partial)
            write_json(partial / MANIFEST, facts)
            partial.rename(place)
            self._make_room(place)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise

    def _make_room(self, place: Path) -> None:
        limit = limit_bytes(self._root)
        for dataset in evict(self._root, limit, spared=place.name):
            log.warning(
                "the data set %s is removed (%s): all data sets together may use %s, or the "
                "size in ASSAY_CACHE_KEEP",
                dataset.name,
                bytes_text(dataset.bytes),
                bytes_text(limit),
            )
            self._removed(dataset)

    def sweep(self) -> None:
        """Remove files of killed data loads, and take over data sets of earlier versions.

        Loads in progress hold their lock.
        """
        for name in sweep(self._root):
            log.info("%s is removed: its process was killed", self._root / name)
        for name in complete_names(self._root):
            # The next run that uses a damaged data set makes it again.
            with suppress(DamagedDataError, OSError):
                if not is_taken(self._root / name):
                    self._take_if_free(name)

    def _take_if_free(self, name: str) -> None:
        with locked_if_free(self._root, name) as is_free:
            if is_free:
                take(self._root / name)


def _bytes_of(place: Path) -> int:
    return sum(path.stat().st_size for path in (place / DATA).rglob("*") if path.is_file())


def _make_directories(partial: Path) -> None:
    """Make the directory of a new data set, with an empty one for its data."""
    partial.mkdir()
    # A server of root passes through this directory, whatever the umask; its data are private.
    partial.chmod(directory_mode())
    (partial / DATA).mkdir(mode=DIRECTORY_MODE)


def _take_new(partial: Path) -> None:
    try:
        take(partial)
    except DamagedDataError as error:
        raise RunFailedError(
            f"the loaded data cannot be kept: {error}. Only the engine may write into {partial}: "
            "end the process that does so, then run again."
        ) from error


def _copy_verified(place: Path, target: Path) -> dict[str, Any]:
    """Copy the files of a cached data set, comparing each with the manifest."""
    try:
        manifest: dict[str, Any] = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        files = {name: facts["sha256"] for name, facts in manifest["files"].items()}
        folders, link_targets = manifest["directories"], manifest.get("links", {})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedDataError(f"{MANIFEST} cannot be read: {error}") from error
    # Data sets of earlier versions belong to the server's user, or everybody can read them.
    if not is_taken(place):
        take(place)
    # Other users must not read a database, and some servers require these permissions.
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in folders:
        (target / name).mkdir(mode=0o700, exist_ok=True)
    for name, sha256 in files.items():
        if copy_hashed(place, name, target / name) != sha256:
            raise DamagedDataError(f"{name} is not what was loaded")
    for name, link_target in link_targets.items():
        (target / name).symlink_to(link_target)
    _write_back([target / name for name in files])
    return manifest


def _write_back(files: list[Path]) -> None:
    """Flush files to disk now, so that the kernel does not do so while queries are timed.

    Files are flushed in parallel: a file system commits waiting files together, and a server's data
    are a thousand small files.
    """
    with ThreadPoolExecutor(WRITERS) as writers:
        for _ in writers.map(_synced, files):
            pass


def _synced(file: Path) -> None:
    with file.open("rb", buffering=0) as written:
        os.fsync(written.fileno())
