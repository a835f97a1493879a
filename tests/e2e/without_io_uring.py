"""Runs a command in which the kernel refuses io_uring_setup, as a container's filter does."""

from __future__ import annotations

import os
import sys

from without_perf import forbid

IO_URING_SETUP = {"x86_64": 425, "aarch64": 425}

if __name__ == "__main__":
    forbid(IO_URING_SETUP)
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - that is what it is for
