"""Shared memory as a killed server of PostgreSQL leaves it, made without one."""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from assay.running.processes import shared_memory

MAGIC, CONTROL_MAGIC = 679834894, 0x9A503D32
ITEM_BYTES, ROOM = 40, 8
_IPC_CREAT, _IPC_EXCL, _IPC_RMID = 0o1000, 0o2000, 0
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.shmat.restype = ctypes.c_void_p
_LIBC.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_LIBC.shmdt.argtypes = (ctypes.c_void_p,)
_LIBC.shmget.argtypes = (ctypes.c_int, ctypes.c_size_t, ctypes.c_int)


@dataclass
class Abandoned:
    """What stays behind of one data directory."""

    segment: int
    files: list[Path]
    address: int | None = None

    @property
    def is_there(self) -> bool:
        """Whether any of it is."""
        there = {segment.id for segment in shared_memory.segments()}
        return self.segment in there or any(file.exists() for file in self.files)

    @property
    def is_whole(self) -> bool:
        """Whether all of it is."""
        there = {segment.id for segment in shared_memory.segments()}
        return self.segment in there and all(file.exists() for file in self.files)

    def attach(self) -> None:
        """Has it open from now on, as a server that runs."""
        self.address = _LIBC.shmat(self.segment, None, 0)

    def remove(self) -> None:
        """Removes what is there."""
        if self.address is not None:
            _LIBC.shmdt(self.address)
        _LIBC.shmctl(self.segment, _IPC_RMID, None)
        for file in self.files:
            with suppress(FileNotFoundError):
                file.unlink()


def abandon(data: Path) -> Abandoned:
    """Leaves memory of a server whose data directory this is; it is made one."""
    data.mkdir(parents=True, exist_ok=True)
    (data / "PG_VERSION").write_text("16\n")
    status = data.stat()
    # Even numbers are those of files.
    control, used, free = (int.from_bytes(os.urandom(4)) & ~1 for _ in range(3))
    files = {number: shared_memory.FILES / f"PostgreSQL.{number}" for number in (control, used)}
    files[control].write_bytes(listing_of(((used, 2), (free, 0))))
    files[used].write_bytes(b"a hash table")
    head = struct.pack("=iiQQI4xQQQ", MAGIC, 1, 0, 56, control, 0, status.st_dev, status.st_ino)
    return Abandoned(_segment(status.st_ino, head), list(files.values()))


def listing_of(items: Iterable[tuple[int, int]]) -> bytes:
    """The file that lists a server's other files, as pairs of number and references."""
    listed = [struct.pack("=II", *item).ljust(ITEM_BYTES, b"\0") for item in items]
    head = struct.pack("=III4x", CONTROL_MAGIC, len(listed), ROOM)
    return head + b"".join(listed).ljust(ROOM * ITEM_BYTES, b"\0")


def _segment(inode: int, content: bytes) -> int:
    """A segment whose key is the number of the directory, as the server chooses it."""
    key = ctypes.c_int(inode & 0xFFFFFFFF).value
    number = _LIBC.shmget(key, len(content), _IPC_CREAT | _IPC_EXCL | 0o600)
    assert number >= 0, os.strerror(ctypes.get_errno())
    address = _LIBC.shmat(number, None, 0)
    ctypes.memmove(address, content, len(content))
    _LIBC.shmdt(address)
    return int(number)


def run_program(directory: Path) -> subprocess.CompletedProcess[str]:
    """Runs the program as a guardian does."""
    command = [sys.executable, "-I", "-S", shared_memory.__file__, str(directory)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
