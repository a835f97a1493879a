"""Unpacks archives; nothing in them gets outside the directory they are unpacked into."""

from __future__ import annotations

import lzma
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING

from assay.engines.providers.contract import ProviderError

if TYPE_CHECKING:
    from pathlib import Path

# Where a zip's entry has the file's mode, and which of its bits are wanted.
MODE_SHIFT, MODE_BITS = 16, 0o777


def unpack_zip(file: Path, home: Path) -> None:
    """Unpacks a zip, wheel or jar with its files' modes. Raises `ProviderError` if damaged."""
    try:
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                made = archive.extract(entry, home)
                mode = entry.external_attr >> MODE_SHIFT & MODE_BITS
                if mode and not entry.is_dir():
                    (home / made).chmod(mode)
    except (zipfile.BadZipFile, zlib.error) as error:
        raise ProviderError(_damaged(file, error)) from error


def unpack_tar(file: Path, home: Path) -> None:
    """Unpacks a tar, however compressed. Raises `ProviderError` if damaged."""
    try:
        with tarfile.open(file) as archive:
            archive.extractall(home, filter="data")
    except (tarfile.TarError, lzma.LZMAError, EOFError, zlib.error) as error:
        raise ProviderError(_damaged(file, error)) from error


def _damaged(file: Path, error: Exception) -> str:
    return f"{file.name} is damaged ({error}): it is removed, try again."
