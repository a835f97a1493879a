"""Calls of the C library that Python does not offer, for the guardian.

The guardian runs without the owner's modules, so this module imports only the standard library.
"""

from __future__ import annotations

import ctypes
import os
import signal

# Constants of the kernel's headers `prctl.h` and `signal.h`.
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_SA_NOCLDSTOP = 1

_LIBC = ctypes.CDLL(None, use_errno=True)


class _Action(ctypes.Structure):
    """`struct sigaction` of the C library."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_byte * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose parent ends. Raises `OSError`."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def send_at_parents_death(number: int) -> None:
    """Request a signal to this process when its parent's thread ends. Raises `OSError`.

    Args:
        number: Number of the signal.
    """
    _prctl(_PR_SET_PDEATHSIG, number)


def hear_of_ends_only() -> None:
    """Disable SIGCHLD for children that stop or continue, as slowed processes always do."""
    action = _Action()
    if _LIBC.sigaction(signal.SIGCHLD, None, ctypes.byref(action)) == 0:
        action.flags |= _SA_NOCLDSTOP
        _LIBC.sigaction(signal.SIGCHLD, ctypes.byref(action), None)


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")
