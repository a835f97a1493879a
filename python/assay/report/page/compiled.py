"""Templates of pages, kept compiled: compiling them takes longer than filling them in."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

import jinja2

if TYPE_CHECKING:
    from pathlib import Path

    from jinja2.bccache import Bucket

OTHERS = 0o077


class Compiled(jinja2.FileSystemBytecodeCache):
    """Compiled templates in a folder. If it is not writable, templates are compiled each time."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps one, if there is room for it."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def compiled_in(folder: Path) -> Compiled | None:
    """Return compiled templates of a folder; None if other users could change this code."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.lstat()
    except OSError:
        return None
    is_ours = about.st_uid == os.geteuid() and not about.st_mode & OTHERS
    return Compiled(str(folder)) if stat.S_ISDIR(about.st_mode) and is_ours else None
