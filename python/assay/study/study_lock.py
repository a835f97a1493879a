"""Locks a study, so that only one process executes it.

The locks are files beside the directories of studies, `<runs>/studies/.<name>.lock`, with the
number of the process. The kernel releases a lock when its process ends, however it ends. The files
that killed processes left are removed by the next study.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.model.whole_file import made_directories
from assay.running.data.dataset_lock import lock_file, locked_if_free, locked_names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Attempts to take a lock: another process may just remove its directory, or hold the lock for a
# moment, only to find out whether a killed process left the file.
ATTEMPTS = 5
# Seconds within which the holder of a lock has written its process number into the file.
HOLDER_WRITES_S = 0.5
LOOK_S = 0.02


@contextmanager
def only_process(studies: Path, name: str) -> Iterator[None]:
    """Hold the lock of a study, or of the work before it.

    Args:
        studies: Directory of the directories of studies. It is removed again if it stays empty.
        name: Name of the study's directory, or digest of what the command asks for.

    Raises:
        UsageError: If another process holds the lock, or the lock's file cannot be written.
    """
    with ExitStack() as held:
        try:
            is_free = _entered(held, studies, name)
        except OSError as error:
            raise UsageError(
                f"cannot lock the study in {studies}: {error.strerror}. Name another directory "
                "with --runs DIR or ASSAY_RUNS."
            ) from error
        if not is_free:
            raise UsageError(
                f"another process is executing this study{_holder(studies, name)}: wait until it "
                "has ended, or name another directory with --runs DIR"
            )
        _remove_left_locks(studies, name)
        yield


def _remove_left_locks(studies: Path, own_name: str) -> None:
    """Remove the files of other locks that no process holds."""
    for name in locked_names(studies):
        if name != own_name:
            # Releasing the lock deletes its file.
            with suppress(OSError), locked_if_free(studies, name):
                pass


def _entered(held: ExitStack, studies: Path, name: str) -> bool:
    """Take a lock until the stack is closed; return False if another process holds it."""
    for _ in range(ATTEMPTS - 1):
        with suppress(FileNotFoundError):
            if _entered_once(held, studies, name):
                return True
            time.sleep(LOOK_S)
    return _entered_once(held, studies, name)


def _entered_once(held: ExitStack, studies: Path, name: str) -> bool:
    with ExitStack() as taken:
        taken.enter_context(made_directories(studies))
        is_free = taken.enter_context(locked_if_free(studies, name))
        if is_free:
            lock_file(studies, name).write_text(f"{os.getpid()}\n", encoding="ascii")
        held.push(taken.pop_all())
    return is_free


def _holder(studies: Path, name: str) -> str:
    """Return the process that holds a lock, in parentheses; empty if it is not known."""
    give_up_s = time.monotonic() + HOLDER_WRITES_S
    while time.monotonic() < give_up_s:
        try:
            if text := lock_file(studies, name).read_text(encoding="ascii").strip():
                return f" (process {text})"
        except OSError:  # the process has ended meanwhile
            return ""
        time.sleep(LOOK_S)
    return ""
