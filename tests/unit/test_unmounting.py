"""Putting a mount back where mounting is forbidden."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest

from assay.running.changes import undo

if TYPE_CHECKING:
    from pathlib import Path


def refuses(_path: str, _flags: int) -> int:
    return errno.EPERM


def step(path: str) -> undo.Step:
    return undo.Step("unmount", path, "a mount")


def test_where_nothing_is_mounted_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo, "_umount2", refuses)
    undo._unmount(step(str(tmp_path)))


def test_what_is_mounted_and_stays_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo, "_umount2", refuses)
    with pytest.raises(PermissionError):
        undo._unmount(step("/proc"))
