"""Unpacks archives; their entries cannot leave the target directory."""

from __future__ import annotations

import lzma
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from assay.engines.providers.contract import ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Position of the file mode in a zip entry, and the bits of it that are kept.
MODE_SHIFT, MODE_BITS = 16, 0o777
# Pythons before 3.11.4 have no filters. Assay's own check works in all; the filter also corrects
# modes and owners.
FILTER: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


def unpack_zip(file: Path, home: Path) -> None:
    """Unpack a zip, wheel or jar with the modes of its files.

    Raises `ProviderError` for a damaged archive.
    """
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
    """Unpack a tar archive with any compression.

    Raises `ProviderError` for a damaged archive.
    """
    try:
        with tarfile.open(file) as archive:
            archive.extractall(home, _harmless(archive, home), **FILTER)  # noqa: S202 - they are
    except (tarfile.TarError, lzma.LZMAError, EOFError, zlib.error) as error:
        raise ProviderError(_damaged(file, error)) from error


def _harmless(archive: tarfile.TarFile, home: Path) -> Iterator[tarfile.TarInfo]:
    """Yield the members of an archive that stay within the target directory."""
    root = home.resolve()
    for member in archive:
        place = (root / member.name).resolve()
        # A hard link's target is relative to the root, a symbolic link's to its own directory.
        begin = root if member.islnk() else place.parent
        target = (begin / member.linkname).resolve() if member.linkname else place
        plain = member.isfile() or member.isdir() or member.issym() or member.islnk()
        if not (plain and place.is_relative_to(root) and target.is_relative_to(root)):
            raise tarfile.TarError(f"{member.name} would lie or lead outside")
        yield member


def _damaged(file: Path, error: Exception) -> str:
    return f"{file.name} is damaged ({error}): it is removed, try again."
