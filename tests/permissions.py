"""Permissions of files that hold for root, too."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
# `_LINUX_CAPABILITY_VERSION_3` of <linux/capability.h>, which has two sets of 32 capabilities.
VERSION_3 = 0x20080522
# CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: with these, modes of files do not hold.
IGNORING_MODES = 1 << 1 | 1 << 2


class Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class Sets(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def called(function: str, sets: ctypes.Array[Sets]) -> None:
    header = Header(VERSION_3, 0)
    if getattr(LIBC, function)(ctypes.byref(header), sets):
        raise OSError(ctypes.get_errno(), function)


@contextmanager
def modes_hold() -> Iterator[None]:
    """In the block, this thread may read and write only what the modes of its files allow."""
    sets = (Sets * 2)()
    called("capget", sets)
    before = sets[0].effective
    sets[0].effective = before & ~IGNORING_MODES
    called("capset", sets)
    try:
        yield
    finally:
        sets[0].effective = before
        called("capset", sets)


@contextmanager
def forbidden(path: Path, mode: int = 0) -> Iterator[None]:
    """In the block, a file or directory has another mode, which holds."""
    before = path.stat().st_mode
    path.chmod(mode)
    try:
        with modes_hold():
            yield
    finally:
        path.chmod(before)
