"""Refuses directories of state and cache in which this user can write no files."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.running.data.kept_datasets import DATASETS
from assay.running.host.places import cache_dir, instances_dir

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

STATE_VARIABLE, CACHE_VARIABLE = "XDG_STATE_HOME", "XDG_CACHE_HOME"
# Errors that say nothing about the directory: the step that needs the resource reports them.
OF_RESOURCES = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT}


def refuse_unusable_state() -> None:
    """Raise `UsageError` if runs cannot have their files in the directory of instances."""
    _refuse(instances_dir(), STATE_VARIABLE)


def refuse_unusable_cache() -> None:
    """Raise `UsageError` if data sets cannot be stored in the cache."""
    _refuse(cache_dir() / DATASETS, CACHE_VARIABLE)


def state_errors() -> AbstractContextManager[None]:
    """Raise `UsageError` with the variable in place of an `OSError` of the state directory."""
    return _errors(instances_dir(), STATE_VARIABLE)


def cache_errors() -> AbstractContextManager[None]:
    """Raise `UsageError` with the variable in place of an `OSError` of the cache."""
    return _errors(cache_dir(), CACHE_VARIABLE)


def _refuse(directory: Path, variable: str) -> None:
    """Raise `UsageError` if a directory cannot be listed and written, or cannot be created."""
    existing = directory
    try:
        existing = _existing(directory)
        with TemporaryFile(dir=existing):
            pass
        os.scandir(existing).close()
    except OSError as error:
        if error.errno not in OF_RESOURCES:
            raise UsageError(
                f"cannot create files in {existing}: {error.strerror}. Set {variable} to a "
                "directory in which this user can create files"
            ) from error


def _existing(directory: Path) -> Path:
    """Return a directory, or the nearest of its parents that exists; it may be a file."""
    for path in (directory, *directory.parents):
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        return path
    return directory


@contextmanager
def _errors(directory: Path, variable: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"{error.filename or directory} cannot be used: {error.strerror}. Set {variable} to a "
            "directory in which this user can create files"
        ) from error
