"""Files of a run's instance directory, and what else must be removed with it.

The guardian runs without the owner's modules, so this module imports only the standard library.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

CHILDREN_FILE = "children.json"
LOCK_FILE = "guardian.lock"
LOG_FILE = "guardian.log"
MARK_FILE = "guardian.mark"
# Marks a process of the instance in its environment.
INSTANCE_VARIABLE = "ASSAY_INSTANCE"
# Directory beside the instances with a journal of each run's host changes, named after the run.
CHANGES_DIR = "changes"
JOURNAL_SUFFIX = ".json"
UNDO_PROGRAM = Path(__file__).absolute().parents[1] / "changes" / "undo.py"
SEGMENTS = Path("/proc/sysvipc/shm")
# Place of the number of attached processes in a line of this file.
ATTACHED = 6
MEMORY_PROGRAM = Path(__file__).absolute().with_name("shared_memory.py")


def write_json(path: Path, value: object) -> None:
    """Replace the file atomically: a reader sees either the old or the new text."""
    fresh = path.with_name(path.name + ".new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(json.dumps(value))
    fresh.replace(path)


def remove_tree(directory: Path) -> None:
    """Remove a directory without following links; a missing file is no error.

    Raises `OSError` if something in it cannot be removed, or if `directory` is a link.
    """

    def judge(_: object, __: str, failure: tuple[Any, BaseException, Any]) -> None:
        if not isinstance(failure[1], FileNotFoundError):
            raise failure[1]

    shutil.rmtree(directory, onerror=judge)


def journal_of(directory: Path) -> Path:
    """Return the journal of the host changes that an instance's run made."""
    return directory.parent.parent / CHANGES_DIR / f"{directory.name}{JOURNAL_SUFFIX}"


def put_back(directory: Path) -> bool:
    """Revert the host changes of an instance's run; return False if a change remains.

    The caller must call it after the processes ended and before the directory is removed.
    """
    journal = journal_of(directory)
    if not journal.exists():
        return True
    program = [sys.executable, "-I", "-S", str(UNDO_PROGRAM), str(journal)]
    return subprocess.run(program, stdin=subprocess.DEVNULL, check=False).returncode == 0


def free_memory(directory: Path) -> None:
    """Remove shared memory of killed servers whose data were below a directory.

    The caller must call it after the processes ended and before the data are removed.
    """
    try:
        segments = SEGMENTS.read_bytes().splitlines()[1:]
    except OSError:  # this kernel has no such memory
        return
    # A server's processes are attached to its segment, so one that is in use is not abandoned.
    if all(int(segment.split()[ATTACHED]) for segment in segments):
        return
    program = [sys.executable, "-I", "-S", str(MEMORY_PROGRAM), str(directory)]
    subprocess.run(program, stdin=subprocess.DEVNULL, check=False)


def take_lock(path: Path) -> int | None:
    """Lock a file, created if missing; return None if another process has the lock.

    The returned descriptor keeps the lock until it is closed. Raises `OSError`.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
