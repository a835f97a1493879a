"""Reads and writes files for a server's programs, which may run as another user than Assay.

Directories of such a server belong to its user, who may put a link in the place of any entry there.
Only the directory that Assay itself made for the server, its scratch or data directory, cannot be
replaced: it stands in a directory of Assay. Each part of a path below it is opened without
following links.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
# Maximum bytes of a file that is read whole: logs are read for lines at their start.
READ_BYTES_MAX = 1 << 24


def write_server_file(path: Path | str, text: str, within: int | None = None) -> None:
    """Write a file that only its owner can read, in place of an earlier one.

    `within` is an open directory that contains the file; without it, `path` is a direct entry of
    the server's directory. Raises `OSError` as `new_server_file` does.
    """
    with new_server_file(path, within=within) as file:
        file.write(text.encode())


def new_server_file(path: Path | str, mode: int = 0o600, within: int | None = None) -> BinaryIO:
    """Make a file in place of an earlier one, and return it open for writing.

    The file is always new, so root writes through no link. Its mode does not depend on the umask.
    Raises `OSError` if it appears again between its removal and its creation.
    """
    remove_server_file(path, within)
    descriptor = os.open(path, NEW_FILE, mode, dir_fd=within)
    os.fchmod(descriptor, mode)
    return os.fdopen(descriptor, "wb")


def remove_server_file(path: Path | str, within: int | None = None) -> None:
    """Remove a file or a link, if it exists.

    Raises `OSError`.
    """
    with suppress(FileNotFoundError):
        os.unlink(path, dir_fd=within)


@contextmanager
def server_directory(root: Path, *names: str) -> Iterator[int]:
    """Open the directory at a path of names below the server's directory `root`.

    Yields the open directory. Raises `OSError` if a name is a link, or does not exist.
    """
    with ExitStack() as opened:
        directory = os.open(root, DIRECTORY)
        opened.callback(os.close, directory)
        for name in names:
            directory = os.open(name, DIRECTORY, dir_fd=directory)
            opened.callback(os.close, directory)
        yield directory


@contextmanager
def new_server_directory(name: str, within: int, *, replaces: bool = True) -> Iterator[int]:
    """Make a directory, by default in place of an earlier file, link or directory of this name.

    Yields the open directory, which belongs to Assay's user: only Assay can make files in it before
    it is given to the server's user. Raises `OSError`, also if somebody replaced the directory.
    """
    if replaces:
        _remove(name, within)
    os.mkdir(name, 0o755, dir_fd=within)
    directory = os.open(name, DIRECTORY, dir_fd=within)
    try:
        if os.fstat(directory).st_uid != os.geteuid():
            raise OSError(errno.EPERM, "another user replaced this directory", name)
        os.fchmod(directory, 0o755)
        yield directory
    finally:
        os.close(directory)


@contextmanager
def private_server_directory(root: Path, name: str) -> Iterator[int]:
    """Make a directory in the server's directory `root` that only its owner can open.

    Yields the open directory. Raises `OSError`.
    """
    with server_directory(root) as within, new_server_directory(name, within) as directory:
        os.fchmod(directory, 0o700)
        yield directory


def copy_into_server(source: Path, name: str, within: int) -> None:
    """Copy a file, or a directory with its content, into an open directory that Assay made.

    Links in `source` are followed. Raises `OSError`.
    """
    if not source.is_dir():
        with source.open("rb") as file, new_server_file(name, 0o644, within) as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
        return
    with new_server_directory(name, within) as directory:
        for entry in sorted(source.iterdir()):
            copy_into_server(entry, entry.name, directory)


def open_server_file(path: Path, directory: Path) -> BinaryIO:
    """Open a file that a server wrote, for reading.

    A link may lead to the file, as to a rotated log, but the file must belong to the owner of the
    server's `directory`: Assay as root reads for a server nothing that the server's user could not
    give away itself. Nothing else than a regular file is opened.

    Raises:
        OSError: If the file is missing, is not a regular file, or belongs to another user.
    """
    owner = directory.stat().st_uid
    # Opening a pipe would wait, and opening a device can change it; this opens neither.
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        status = os.fstat(place)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "this is not a regular file", str(path))
        if status.st_uid != owner:
            raise OSError(errno.EPERM, "this file does not belong to the server's user", str(path))
        return Path(f"/proc/self/fd/{place}").open("rb")
    finally:
        os.close(place)


def read_server_file(path: Path, directory: Path) -> str:
    """Return the text of a file that a server wrote, at most its first 16 MiB.

    Raises `OSError` as `open_server_file` does.
    """
    with open_server_file(path, directory) as file:
        return file.read(READ_BYTES_MAX).decode(errors="replace")


def _remove(name: str, within: int) -> None:
    try:
        is_directory = stat.S_ISDIR(os.stat(name, dir_fd=within, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return
    if is_directory:
        shutil.rmtree(name, dir_fd=within)
    else:
        os.unlink(name, dir_fd=within)
