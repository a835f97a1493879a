"""Writes files for a server's programs, which may run as another user than Assay.

Directories of such a server belong to its user, who may put a link in the place of any file there.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_server_file(path: Path, text: str) -> None:
    """Write a file that only its owner can read, in place of an earlier one.

    The file is always new, so root writes through no link. Raises `OSError` if it appears again
    between its removal and its creation.
    """
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
