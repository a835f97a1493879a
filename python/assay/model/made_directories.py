"""Creates directories that do not stay if nothing is written into them."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from errno import ENOTDIR
from os import strerror
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def make_directory(path: Path) -> None:
    """Create one directory unless it exists.

    Raises:
        OSError: If it cannot be created, with the reason if something else has its name.
    """
    try:
        path.mkdir(exist_ok=True)
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
