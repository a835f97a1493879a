"""Takes over, describes and copies the files of a data set, which a server's user may have written.

A private server of root has another user, and processes of this user may still run after the server
has stopped. `take` therefore gives all files to the owner of the data set's directory, which Assay
made: from then on nobody else can put a link in the place of a file between two accesses. Each file
is opened without following links and is used only if it is a regular file of that owner.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.engines.server_files import DIRECTORY, server_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = "data"
DIRECTORY_MODE, FILE_MODE = 0o700, 0o600
OTHERS = stat.S_IRWXG | stat.S_IRWXO
# Opening a pipe would wait without O_NONBLOCK, which has no effect on regular files.
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
COPY_BYTES = 1 << 22
# Errors of opening a file that is missing or replaced: by a link or a socket.
REPLACED = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO)


class DamagedDataError(Exception):
    """Error: a cached data file differs from its manifest, or belongs to another user."""


def is_taken(place: Path) -> bool:
    """Return True if only the owner of a data set's directory can enter its data.

    Data sets of earlier versions belong to the server's user, or can be read by everybody.

    Raises:
        DamagedDataError: If there is no directory of data.
    """
    with _data(place) as data:
        status = os.fstat(data)
    return status.st_uid == place.stat().st_uid and not status.st_mode & OTHERS


def take(place: Path) -> None:
    """Give a data set's files to the owner of its directory, and let nobody else read them.

    Directories are taken before their content is listed, so the list cannot change any more.

    Raises:
        DamagedDataError: If a file belongs neither to that owner nor to the server's user.
        OSError: If a file cannot be taken.
    """
    owner = place.stat()
    with _data(place) as data:
        _Taking(owner.st_uid, owner.st_gid, os.fstat(data).st_uid).take_directory(data, Path())


@dataclass(frozen=True)
class _Taking:
    """The change of a data set's owner.

    Attributes:
        uid: User id of the new owner.
        gid: Group id of the new owner.
        former: User id of the owner so far, as which the server ran.
        inodes: Files that were taken; a server may give a file several names.
    """

    uid: int
    gid: int
    former: int
    inodes: set[int] = field(default_factory=set)

    def take_directory(self, directory: int, path: Path) -> None:
        self._take(directory, path, DIRECTORY_MODE)
        for name in os.listdir(directory):
            mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                with _opened(name, DIRECTORY, directory) as below:
                    self.take_directory(below, path / name)
            elif stat.S_ISREG(mode):
                with _opened(name, FILE, directory) as file:
                    self._take(file, path / name, FILE_MODE)
            else:
                os.chown(name, self.uid, self.gid, dir_fd=directory, follow_symlinks=False)

    def _take(self, descriptor: int, path: Path, mode: int) -> None:
        status = os.fstat(descriptor)
        if status.st_uid not in (self.uid, self.former):
            raise DamagedDataError(f"{path} belongs to the user with the id {status.st_uid}")
        if self._is_linked_in(status):
            raise DamagedDataError(f"{path} is a hard link to a file that the server did not make")
        self.inodes.add(status.st_ino)
        if status.st_uid != self.uid:
            os.fchown(descriptor, self.uid, self.gid)
        # This also ends the effect of access control lists.
        os.fchmod(descriptor, mode)

    def _is_linked_in(self, status: os.stat_result) -> bool:
        """Return True for a file of the new owner that the server's user may have linked."""
        is_ours = status.st_uid == self.uid != self.former
        linked = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
        return is_ours and linked and status.st_ino not in self.inodes


def described(place: Path) -> dict[str, dict[str, Any]]:
    """Return size in bytes and SHA-256 of each regular file of a data set, by name."""
    data, owner = place / DATA, place.stat().st_uid
    names = (str(path.relative_to(data)) for path in sorted(data.rglob("*")) if _is_regular(path))
    files: dict[str, dict[str, Any]] = {}
    for name in names:
        with _file(data, name, owner) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            files[name] = {"bytes": os.fstat(file.fileno()).st_size, "sha256": digest}
    return files


def directories(place: Path) -> list[str]:
    """Return all directories of a data set, including empty ones."""
    data = place / DATA
    paths = (path for path in data.rglob("*") if path.is_dir() and not path.is_symlink())
    return sorted(str(path.relative_to(data)) for path in paths)


def links(place: Path) -> dict[str, str]:
    """Return the symbolic links of a data set with their targets."""
    data = place / DATA
    paths = sorted(path for path in data.rglob("*") if path.is_symlink())
    return {str(path.relative_to(data)): str(path.readlink()) for path in paths}


def copy_hashed(place: Path, name: str, target: Path) -> str:
    """Copy a file of a data set, and return the SHA-256 of the copied bytes.

    Raises:
        DamagedDataError: If it is missing, or is not a regular file of the data set's owner.
        OSError: If it cannot be read or written.
    """
    digest = hashlib.sha256()
    buffer = bytearray(COPY_BYTES)
    view = memoryview(buffer)
    with (
        _file(place / DATA, name, place.stat().st_uid) as reading,
        target.open("wb", buffering=0) as writing,
    ):
        while count := reading.readinto(buffer):
            digest.update(view[:count])
            written = 0
            while written < count:
                written += os.write(writing.fileno(), view[written:count])
    return digest.hexdigest()


def _is_regular(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


@contextmanager
def _data(place: Path) -> Iterator[int]:
    """Open the directory of a data set's data."""
    with _opened(place / DATA, DIRECTORY) as data:
        yield data


@contextmanager
def _file(data: Path, name: str, owner: int) -> Iterator[FileIO]:
    """Open a regular file of an owner below a directory, without following links."""
    descriptor = _descriptor(data, name)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != owner:
            raise DamagedDataError(f"{name} is not a regular file of the data set's owner")
        with FileIO(descriptor, closefd=False) as file:
            yield file
    finally:
        os.close(descriptor)


def _descriptor(data: Path, name: str) -> int:
    *parents, last = Path(name).parts
    try:
        with server_directory(data, *parents) as directory:
            return os.open(last, FILE, dir_fd=directory)
    except OSError as error:
        raise _damage(error, name) from error


@contextmanager
def _opened(name: Path | str, flags: int, within: int | None = None) -> Iterator[int]:
    try:
        descriptor = os.open(name, flags, dir_fd=within)
    except OSError as error:
        raise _damage(error, Path(name).name) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _damage(error: OSError, name: str) -> Exception:
    """Return the error for a file that cannot be opened."""
    if error.errno not in REPLACED:
        return error
    what = "is missing" if error.errno == errno.ENOENT else "was replaced"
    return DamagedDataError(f"{name} {what}")
