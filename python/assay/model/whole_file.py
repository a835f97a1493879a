"""Writes files whole or not at all, and creates directories that stay only if they are filled."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from errno import ENOTDIR
from os import strerror
from shutil import rmtree
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a path to write to, whose file replaces that of `path` when the block ends.

    If the block fails, for example on a full disk, the new file is removed and the old one stays.
    """
    partial = path.with_name(f"{path.name}.partial")
    try:
        yield partial
        partial.rename(path)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def make_directory(path: Path) -> None:
    """Create a directory with its parents unless it exists.

    Raises:
        OSError: If it cannot be created, with the reason if something else has its name.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        path.stat()  # this raises the reason for a loop of symbolic links
        raise NotADirectoryError(ENOTDIR, strerror(ENOTDIR), str(path)) from None


@contextmanager
def made_directories(directory: Path) -> Iterator[None]:
    """Create a directory with its parents; remove those that are empty when the block ends.

    Directories that existed before stay.

    Raises:
        OSError: If the directory cannot be created, or if a file has its name.
    """
    made: list[Path] = []
    try:
        for path in reversed([directory, *directory.parents]):
            if not path.is_dir():
                make_directory(path)
                made.append(path)
        yield
    finally:
        for path in reversed(made):
            # Other files are in it, or another process removed it.
            with suppress(OSError):
                path.rmdir()


@contextmanager
def filled_directory(directory: Path) -> Iterator[None]:
    """Create a directory to be filled; if the block fails, remove all of it again.

    The directory is empty, or does not exist. In an empty one, only the files are removed.

    Raises:
        OSError: If the directory cannot be created, or if a file has its name.
    """
    with made_directories(directory):
        try:
            yield
        except BaseException:
            for path in directory.iterdir():
                with suppress(OSError):
                    rmtree(path) if path.is_dir() else path.unlink()
            raise
