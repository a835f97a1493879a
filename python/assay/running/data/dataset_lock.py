"""Locks a cached data set by a file beside it."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PREFIX, SUFFIX = ".", ".lock"


def lock_file(root: Path, name: str) -> Path:
    """Return the path of a cached data set's lock file."""
    return root / f"{PREFIX}{name}{SUFFIX}"


def locked_names(root: Path) -> list[str]:
    """Return the names of cached data sets that have a lock file, held or left."""
    files = sorted(root.glob(f"{PREFIX}*{SUFFIX}"))
    return [file.name.removeprefix(PREFIX).removesuffix(SUFFIX) for file in files]


@contextmanager
def locked(root: Path, name: str, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of a cached data set; call `waiting` if another process holds it."""
    file = lock_file(root, name)
    descriptor = _taken(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if descriptor is None:
        waiting()
        descriptor = _taken(file, fcntl.LOCK_EX)
    with _held(file, descriptor):
        yield


@contextmanager
def locked_if_free(root: Path, name: str) -> Iterator[bool]:
    """Hold the lock of an unused cached data set; yield False if it is in use."""
    file = lock_file(root, name)
    descriptor = _taken(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with _held(file, descriptor):
        yield descriptor is not None


def _taken(file: Path, operation: int) -> int | None:
    """Lock a file and return its descriptor; None if another process holds the lock."""
    while True:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, operation)
            if _is_open(file, descriptor):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        # The previous holder deleted its lock file, so other processes may have locked a new one.
        os.close(descriptor)


def _is_open(file: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


@contextmanager
def _held(file: Path, descriptor: int | None) -> Iterator[None]:
    if descriptor is None:
        yield
        return
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            file.unlink()
        os.close(descriptor)
