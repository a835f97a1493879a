"""Measures, fills and evicts the page cache of the files in one directory.

Only these files are affected, and only read permission is needed.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay import _core

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

READ_BYTES = 1 << 22


def files_below(directory: Path) -> list[Path]:
    """Return the regular files below a directory; empty if it does not exist."""
    return sorted(path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())


def size_bytes(directory: Path) -> int:
    """Return the bytes of all files below a directory."""
    return sum(path.stat().st_size for path in files_below(directory))


def resident_bytes(directory: Path) -> int:
    """Return the bytes of a directory's files that are in the page cache."""
    return sum(_core.resident_bytes(path) for path in files_below(directory))


def evict(directory: Path) -> None:
    """Write a directory's dirty pages back, then ask the kernel to evict all its pages."""
    for path in files_below(directory):
        with _opened(path) as descriptor:
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def read_in(directory: Path) -> None:
    """Read every file of a directory into the page cache."""
    buffer = bytearray(READ_BYTES)
    for path in files_below(directory):
        with _opened(path) as descriptor:
            while os.readv(descriptor, [buffer]):
                pass


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
