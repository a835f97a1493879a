"""Writes files whole or not at all."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a path to write to, whose file replaces that of `path` when the block ends.

    If the block fails, for example on a full disk, the new file is removed and the old one stays.
    """
    partial = path.with_name(f"{path.name}.partial")
    try:
        yield partial
        partial.rename(path)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise
