"""Finds and removes shared memory that PostgreSQL's servers leave when they are killed.

A PostgreSQL server keeps a small System V segment. The segment's header names the data directory,
and the file of /dev/shm that lists the server's other files there. A server that restarts on the
same data directory removes all of it. After the directory is deleted, no server does. The
kernel counts processes attached to a segment: one without any belongs to a server whose processes
have all ended.

Every user may make such segments and files. Only files of the user who made the segment are read
or named: otherwise any user could have root remove the memory of another user's server.

A guardian executes this file by path, with `python -I -S`, so it imports nothing of Assay.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SEGMENTS = Path("/proc/sysvipc/shm")
FILES = Path("/dev/shm")  # noqa: S108 - it is where they are
FILE_PREFIX = "PostgreSQL."
# File that every data directory has.
VERSION_FILE = "PG_VERSION"
# A server uses one of the next keys if another program has the key of its directory's inode.
KEYS_MAX = 16

_MAGIC, _CONTROL_MAGIC = 679834894, 0x9A503D32
# `PGShmemHeader`: magic, creator, total, free, control, a pointer, device, inode.
_HEADER = struct.Struct("=iiQQI4xQQQ")
# `dsm_control_header`: magic, items, maximum items; then items, each beginning with handle and
# count.
_CONTROL, _CONTROL_BYTES, _ITEM = struct.Struct("=III"), 16, struct.Struct("=II")
# The listing of a server with the most connections that PostgreSQL allows is shorter.
_LISTING_BYTES_MAX = 64 << 20
_KEY_MASK = 0xFFFFFFFF
_SHM_RDONLY, _IPC_RMID = 0o10000, 0
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.shmat.restype = ctypes.c_void_p
_LIBC.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_LIBC.shmdt.argtypes = (ctypes.c_void_p,)
_NOWHERE = ctypes.c_void_p(-1).value


@dataclass(frozen=True)
class Segment:
    """A System V shared memory segment of the size that PostgreSQL uses."""

    id: int
    key: int
    creator_pid: int
    creator_uid: int
    attached: int
    created_s: int


@dataclass(frozen=True)
class ServerMemory:
    """The shared memory that one PostgreSQL server left.

    Attributes:
        segment: Its System V segment.
        device, inode: Device and inode of the server's data directory.
        files: Existing files of the server in /dev/shm.
    """

    segment: Segment
    device: int
    inode: int
    files: tuple[Path, ...]

    @property
    def description(self) -> str:
        """Return a text that describes the shared memory segment."""
        server = f"a PostgreSQL server that is gone (pid {self.segment.creator_pid})"
        files = "".join(f", {file}" for file in self.files)
        return f"shared memory of {server}: System V segment {self.segment.id}{files}"

    def remove(self) -> None:
        """Remove the shared memory of an ended server.

        Raises `OSError` if it belongs to another user.
        """
        for file in self.files:
            with suppress(FileNotFoundError):
                file.unlink()
        if _LIBC.shmctl(self.segment.id, _IPC_RMID, None) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), f"segment {self.segment.id}")


def segments() -> list[Segment]:
    """Return the System V segments of the size that PostgreSQL uses."""
    try:
        lines = SEGMENTS.read_text(encoding="ascii").splitlines()[1:]
    except FileNotFoundError:
        return []
    rows = [[int(field) for field in line.split()] for line in lines]
    # columns: key, id, permissions, size, creator, last user, attached, user and group of the owner
    # (which the owner may change) and of the creator, three times
    return [
        Segment(row[1], row[0] & _KEY_MASK, row[4], row[9], row[6], row[13])
        for row in rows
        if row[3] == _HEADER.size
    ]


def abandoned(inode: int | None = None) -> list[ServerMemory]:
    """Return the shared memory of ended PostgreSQL servers."""
    free = [segment for segment in segments() if segment.attached == 0]
    if inode is not None:
        free = [segment for segment in free if (segment.key - inode) & _KEY_MASK < KEYS_MAX]
    return [memory for memory in map(_memory, free) if memory is not None]


def remove_below(directory: Path) -> list[str]:
    """Remove the shared memory of ended servers whose data were below a directory.

    Returns:
        The result describes what could not be removed.
    """
    left = []
    for data in _data_directories(directory):
        status = data.stat()
        for memory in abandoned(status.st_ino):
            if (memory.device, memory.inode) != (status.st_dev, status.st_ino):
                continue
            try:
                memory.remove()
            except OSError as failure:
                left.append(f"{memory.description}: {failure}")
    return left


def _data_directories(directory: Path) -> Iterator[Path]:
    # No segment is abandoned, so the search ends.
    if all(segment.attached for segment in segments()):
        return
    for path, directories, files in os.walk(directory):
        if VERSION_FILE in files:
            directories.clear()
            yield Path(path)


def _memory(segment: Segment) -> ServerMemory | None:
    head = _content(segment.id)
    if head is None:
        return None
    magic, _, _, _, control, _, device, inode = _HEADER.unpack(head)
    if magic != _MAGIC:
        return None
    return ServerMemory(segment, device, inode, tuple(_files(control, segment.creator_uid)))


def _content(segment_id: int) -> bytes | None:
    """Return the bytes of a shared memory segment; None if it cannot be read."""
    address = _LIBC.shmat(segment_id, None, _SHM_RDONLY)
    if address == _NOWHERE:
        return None
    try:
        return ctypes.string_at(address, _HEADER.size)
    finally:
        _LIBC.shmdt(address)


def _files(control: int, uid: int) -> Iterator[Path]:
    """Yield the POSIX shared memory files of a PostgreSQL server that ran as a user."""
    listing = FILES / f"{FILE_PREFIX}{control}"
    text = _listing(listing, uid)
    try:
        magic, count, room = _CONTROL.unpack_from(text)
    except struct.error:
        return
    if magic != _CONTROL_MAGIC or room == 0 or count > room:
        return
    item_bytes = (len(text) - _CONTROL_BYTES) // room
    if item_bytes < _ITEM.size:
        return
    for number in range(count):
        handle, references = _ITEM.unpack_from(text, _CONTROL_BYTES + number * item_bytes)
        file = FILES / f"{FILE_PREFIX}{handle}"
        if references and _is_of(file, uid):
            yield file
    yield listing


def _listing(path: Path, uid: int) -> bytes:
    """Return the content of a user's own file; nothing for a link, a pipe or another user's."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            is_own = stat.S_ISREG(status.st_mode) and status.st_uid == uid
            return file.read() if is_own and status.st_size <= _LISTING_BYTES_MAX else b""
    except OSError:
        return b""


def _is_of(path: Path, uid: int) -> bool:
    """Return True if a path is a file of a user; a link is none."""
    with suppress(FileNotFoundError):
        status = path.lstat()
        return stat.S_ISREG(status.st_mode) and status.st_uid == uid
    return False


def main(arguments: list[str]) -> int:
    """Remove the shared memory of killed servers whose data were below a directory."""
    left = remove_below(Path(arguments[0]))
    for problem in left:
        sys.stderr.write(f"shared memory is left: {problem}\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
