"""Checks that a directory is a record, and that this user can read all of it.

A record is checked before any file of it is read. A missing permission is therefore never mistaken
for damage.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from assay.model.errors import RecordDeniedError, RecordPathError, RecordUnreadableError
from assay.record.layout import DERIVED_DIR, RAW_DIR, RUN_FILE, SEAL_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Errors of a path that names no file.
NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP)
# The beginning of a run's id. Directories of other names, such as `lost+found`, are no records.
RUN_ID = re.compile(r"\d{8}T\d{6,}Z-")


def is_record(directory: Path) -> bool:
    """Return True if a directory is a record, even if its `run.json` was lost.

    Raises:
        PermissionError: If this user may not search the directory.
    """
    of_run = _mode(directory / RUN_FILE)
    if of_run:
        return stat.S_ISREG(of_run)
    of_seal, of_raw = (_mode(directory / name) for name in (SEAL_FILE, RAW_DIR))
    return stat.S_ISREG(of_seal) and stat.S_ISDIR(of_raw)


def may_be_record(directory: Path) -> bool:
    """Return True if a directory is a record, or has the name of one and cannot be searched."""
    try:
        return is_record(directory)
    except PermissionError:
        return RUN_ID.match(directory.name) is not None


def is_file(path: Path) -> bool:
    """Return True for a file.

    Raises:
        RecordDeniedError: If this user may not search its directory.
    """
    try:
        return stat.S_ISREG(_mode(path))
    except PermissionError as error:
        raise denied(path, error) from error


def _mode(path: Path) -> int:
    """Return the type and mode of a file; 0 if it does not exist.

    Methods such as `Path.is_file` return False or raise an error if a directory cannot be searched,
    which depends on the version of Python.
    """
    try:
        return path.stat().st_mode
    except ValueError:
        return 0
    except OSError as error:
        if error.errno in NO_FILE:
            return 0
        raise


def denied(path: Path | str, error: OSError) -> RecordDeniedError:
    """Return the error for a file or directory that this user may not read."""
    return RecordDeniedError(
        f"{path} cannot be read: {error.strerror}. Ask its owner for permission to read it, or "
        "run Assay as its owner."
    )


@contextmanager
def denial_reported(path: Path) -> Iterator[None]:
    """Raise `RecordDeniedError` if a directory may not be read by this user."""
    try:
        yield
    except PermissionError as error:
        raise denied(path, error) from error


def refuse_other_encoding(path: Path) -> None:
    """Refuse a path that is not UTF-8, which neither a document nor a page can contain.

    Raises:
        RecordPathError: If the absolute path is not UTF-8.
    """
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError as error:
        raise RecordPathError(
            f"{path}: the path of a record has to be UTF-8: rename the directory, or move the "
            "record to another one"
        ) from error


def check_access(run_dir: Path) -> None:
    """Refuse a record that this user may not read, or that has a link, a pipe or a device.

    Assay never makes a link. A record of somebody else could have Assay write its report through a
    link into another folder, or read a pipe for ever.

    Raises:
        RecordDeniedError: If this user may not read a directory or a file of the record. Files of
            reports are not checked, because they are made again.
        RecordPathError: If its path is not UTF-8.
        RecordUnreadableError: If it contains a link, a pipe or a device.
    """
    refuse_other_encoding(run_dir)
    _check_folder(str(run_dir), are_read=True)


def _check_folder(folder: str, *, are_read: bool) -> None:
    """Check the entries below a folder, and that its files can be opened if they are read."""
    # A folder of a run that has not ended may vanish meanwhile.
    with suppress(FileNotFoundError, NotADirectoryError), _entries(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _check_folder(entry.path, are_read=are_read and entry.name != DERIVED_DIR)
            elif not entry.is_file(follow_symlinks=False):
                raise RecordUnreadableError(
                    f"{entry.path}: this is a link, a pipe or a device, and a record has only "
                    "files and folders: remove it, or replace it by a copy of the file"
                )
            elif are_read and not os.access(entry.path, os.R_OK, effective_ids=True):
                _check_file(entry.path)


@contextmanager
def _entries(folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    try:
        with os.scandir(folder) as entries:
            yield entries
    except PermissionError as error:
        raise denied(error.filename or folder, error) from error


def _check_file(path: str) -> None:
    """Refuse a file that this user may not open; one that vanished meanwhile is no fault."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except PermissionError as error:
        raise denied(path, error) from error
