"""Starts a process under the number of one that has ended, as happens when numbers run out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

# The number before the next one that the kernel tries.
LAST_PID = Path("/proc/sys/kernel/ns_last_pid")
# Other processes of the host take numbers, too.
ATTEMPTS_MAX = 200


def skip_unless_numbers_can_be_chosen() -> None:
    try:
        LAST_PID.write_text(LAST_PID.read_text("ascii"), "ascii")
    except OSError as error:
        pytest.skip(f"only root may choose the next process number: {error}")


def started_as(pid: int, start: Callable[[], subprocess.Popen[Any]]) -> subprocess.Popen[Any]:
    """Start a process until it has a number that is free."""
    for _ in range(ATTEMPTS_MAX):
        LAST_PID.write_text(str(pid - 1), "ascii")
        process = start()
        if process.pid == pid:
            return process
        process.kill()
        process.communicate()
    return pytest.skip(f"process number {pid} was never free in {ATTEMPTS_MAX} attempts")
