"""Cache of compiled templates for HTML pages, because compiling is slow."""

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
    """Compiled page templates in a folder; if it is not writable, every use compiles again."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store a compiled page template; ignore errors such as a full disk."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def compiled_in(folder: Path) -> Compiled | None:
    """Return the template cache in a folder; None if other users could change it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.lstat()
    except OSError:
        return None
    is_ours = about.st_uid == os.geteuid() and not about.st_mode & OTHERS
    return Compiled(str(folder)) if stat.S_ISDIR(about.st_mode) and is_ours else None
