"""Runs a command in which the kernel refuses perf_event_open, as a container's filter does."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE, EACCES = 0x7FFF0000, 0x00050000, 13


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def forbid(call: dict[str, int] = PERF_EVENT_OPEN) -> None:
    """From here on this process, and all that come of it, may not make this system call."""
    number = call[platform.machine()]
    steps = [
        (LOAD_WORD, 0, 0, 0),
        (JUMP_IF_EQUAL, 0, 1, number),
        (RETURN, 0, 0, REFUSE | EACCES),
        (RETURN, 0, 0, ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = Program(len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in (
        (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
    ):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    forbid()
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - that is what it is for
