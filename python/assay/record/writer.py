"""Writes a run directory: the request first, the checksums last.

`run.json` exists before the first measurement and always has the run's current status.
    Leaving the block without `seal()` sets the status to 'failed' or 'interrupted', with the
    reason.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from assay.model.errors import (
    AssayError,
    RecordRemovedError,
    RunFailedError,
    UsageError,
    stopped_by,
)
from assay.model.whole_file import make_directory, whole_file
from assay.record.access import is_file, refuse_other_encoding
from assay.record.layout import (
    DERIVED_DIR,
    ENVIRONMENT_FILE,
    EXPECTED_DIR,
    RAW_DIR,
    RESULTS_DIR,
    RUN_FILE,
    SCHEMA_VERSION,
    STATUS_COMPLETE,
    STATUS_FAILED,
    STATUS_INTERRUPTED,
    STATUS_RUNNING,
)
from assay.record.outside import refuse_inside_record
from assay.record.seal import write_seal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType


# Errors of a full disk, and of a user's full share of it.
FULL = (errno.ENOSPC, errno.EDQUOT)


def new_run_id(workload: str, engine: str) -> str:
    """Return a unique id that sorts by time: `<utc>-<workload>-<engine>-<six hex digits>`."""
    now = datetime.now(tz=UTC).strftime("%Y%m%dT%H%M%S%f")[:-3]
    return f"{now}Z-{workload}-{engine}-{secrets.token_hex(3)}"


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Replace a JSON file atomically: a reader sees either the old or the new content."""
    with whole_file(path) as partial, partial.open("w", encoding="utf-8") as file:
        json.dump(document, file, indent=1, sort_keys=False, ensure_ascii=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())


class RunWriter:
    """Writes the files of a run directory, except the streams in `raw/`."""

    def __init__(self, runs_dir: Path, run_id: str, asked: dict[str, Any]) -> None:
        self.id = run_id
        self.dir = (runs_dir / run_id).absolute()
        self.raw = self.dir / RAW_DIR
        self.derived = self.dir / DERIVED_DIR
        self._run: dict[str, Any] = {
            "schema": SCHEMA_VERSION,
            "id": run_id,
            "status": STATUS_RUNNING,
            "reason": None,
            "started_utc": datetime.now(tz=UTC).isoformat(timespec="milliseconds"),
            "ended_utc": None,
            # The wall clock may be set while a run executes.
            "took_s": None,
            # All times in the record are CLOCK_MONOTONIC; adding this difference gives wall-clock
            # time.
            "wall_minus_monotonic_ns": time.time_ns() - time.monotonic_ns(),
            **asked,
        }
        self._began_s = time.monotonic()
        self._sealed = False

    def __enter__(self) -> Self:
        try:
            self.dir.mkdir(parents=True)
            for directory in (self.raw / RESULTS_DIR / EXPECTED_DIR, self.derived):
                directory.mkdir(parents=True)
            self._write_run()
        except FileExistsError as error:
            raise RunFailedError(f"the record {self.dir} exists already: start again") from error
        except OSError as error:
            # Nothing was measured yet, and a directory without `run.json` is no record.
            shutil.rmtree(self.dir, ignore_errors=True)
            raise UsageError(
                f"cannot write the record in {self.dir}: {error.strerror}. Nothing was measured; "
                f"{_advice(error)}"
            ) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._sealed or not self.dir.exists():
            return
        interrupted = isinstance(error, KeyboardInterrupt)
        if isinstance(error, KeyboardInterrupt):
            reason = f"stopped by {stopped_by(error)}"
        elif error is None:
            reason = "it was left before its seal"
        else:
            reason = str(error) or repr(error)
        if isinstance(error, AssayError) and error.exit_code == UsageError.exit_code:
            self._run["refused"] = not (self.raw / "events.arrows").exists()
        self._end(STATUS_INTERRUPTED if interrupted else STATUS_FAILED, reason)

    def update(self, **facts: object) -> None:
        """Add facts to the run's `run.json`."""
        self._run.update(facts)
        with self._writing():
            self._write_run()

    def write_environment(self, environment: dict[str, Any]) -> None:
        """Write `environment.json`, which must hold no secrets."""
        with self._writing():
            write_json(self.dir / ENVIRONMENT_FILE, environment)

    def seal(self) -> None:
        """Mark the run as complete, then write the checksums of all measured files."""
        self._end(STATUS_COMPLETE, None)
        with self._writing():
            write_seal(self.dir)
        self._sealed = True

    def _end(self, status: str, reason: str | None) -> None:
        now = datetime.now(tz=UTC).isoformat(timespec="milliseconds")
        took_s = round(time.monotonic() - self._began_s, 3)
        self._run.update(status=status, reason=reason, ended_utc=now, took_s=took_s)
        with self._writing():
            self._write_run()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if not is_file(self.dir / RUN_FILE):
                raise RecordRemovedError(
                    f"the record {self.dir} was removed while it was written: nothing of it is kept"
                ) from error
            raise RunFailedError(
                f"cannot write the record in {self.dir}: {error.strerror}. The measurements so "
                f"far are stored; {_advice(error)}"
            ) from error

    def _write_run(self) -> None:
        write_json(self.dir / RUN_FILE, self._run)


def _advice(error: OSError) -> str:
    """Return what to do about an error while a record is written."""
    space = "free some space, or " if error.errno in FULL else ""
    return f"{space}name another directory with --runs DIR."


def check_runs_dir(path: Path) -> None:
    """Refuse a directory of runs that cannot hold a new record. It need not exist.

    Raises:
        UsageError: If it lies inside a record, or this user cannot write there.
        RecordPathError: If its path is not UTF-8.
    """
    refuse_inside_record(path, "--runs")
    refuse_other_encoding(path)
    above = path.absolute()
    while not os.path.lexists(above):
        above = above.parent
    if above.is_dir() and not os.access(above, os.W_OK | os.X_OK, effective_ids=True):
        is_read_only = os.statvfs(above).f_flag & os.ST_RDONLY
        reason = os.strerror(errno.EROFS if is_read_only else errno.EACCES)
        raise UsageError(
            f"cannot write to the directory for runs {path}: {reason}. Name another directory with "
            "--runs DIR or ASSAY_RUNS."
        )


def ensure_runs_dir(path: Path) -> Path:
    """Return the directory of runs, which is created if needed.

    Raises:
        UsageError: If it lies inside a record, cannot be created or cannot be written to.
        RecordPathError: If its path is not UTF-8.
    """
    check_runs_dir(path)
    try:
        make_directory(path)
    except OSError as error:
        raise UsageError(
            f"cannot create the directory for runs {path}: {error.strerror}. Name another "
            "directory with --runs DIR or ASSAY_RUNS."
        ) from error
    return path
