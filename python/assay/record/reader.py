"""Reads the directory of a complete, killed or damaged run, and reports missing files.

An incomplete stream of a killed run is read up to the last complete batch.
"""

from __future__ import annotations

import glob
import json
import os
import re
from contextlib import contextmanager
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.model.errors import (
    AssayError,
    RecordDamagedError,
    RecordNewerError,
    RecordUnreadableError,
    UsageError,
    suggestion,
)
from assay.record.access import check_access, denial_reported, denied, is_record, may_be_record
from assay.record.arrow_limits import refuse_rows
from assay.record.damage import warn_if_damaged
from assay.record.layout import (
    DERIVED_DIR,
    DRIVER_FILE,
    ENVIRONMENT_FILE,
    EXPECTED_DIR,
    EXPECTED_ORIGIN_FILE,
    KIND_CEILING,
    KIND_OBSERVED,
    KIND_PLANNED,
    KIND_RUN,
    RAW_DIR,
    RECOVERED_DIR,
    RESULTS_DIR,
    RUN_FILE,
    SAMPLING_FILE,
    SCHEMA_VERSION,
    SEAL_FILE,
    STATUS_COMPLETE,
    STATUS_FILES,
)
from assay.record.seal import broken_seals
from assay.record.streams import frame, opened, read_result, readable, whole_batches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl
    import pyarrow as pa

# Rows in one part of a long stream; about 30 MB of statements.
PART_ROWS = 1 << 19


# Values of options that were not given.
SAYS_NOTHING: tuple[Any, ...] = (None, False, "", [], {})


def list_runs(runs_dir: Path) -> list[Path]:
    """Return run directories, oldest first (ids sort by time).

    Records that this user may not read are among them, and so are records without `run.json`.

    Raises:
        UsageError: If `runs_dir` is not a directory, or cannot be read.
        RecordDeniedError: If this user may not read it.
    """
    try:
        with denial_reported(runs_dir):
            return sorted(path for path in runs_dir.iterdir() if may_be_record(path))
    except FileNotFoundError:
        return []
    except NotADirectoryError as error:
        raise UsageError(f"--runs {runs_dir}: this is not a directory") from error
    except OSError as error:
        raise UsageError(f"--runs {runs_dir}: {error.strerror}: name another directory") from error


def find_run(name: str, runs_dir: Path) -> Path:
    """Return the directory of a run named by `latest`, a path, an id or the beginning of one id.

    A `DamagedRecordWarning` is issued if the record was changed after it was sealed.

    Raises:
        RecordUnreadableError: If no run has this name, several ids begin with it, this user may not
            read it, or nothing was measured in the run.
    """
    directory = _named(name, runs_dir)
    check_access(directory)
    warn_if_damaged(directory)
    if _is_planned(directory):
        raise RecordUnreadableError(
            f"{directory.name} has only plans, which were captured without execution: its plans "
            "are the files in raw/plans. Name a run with measurements."
        )
    return directory


def _is_planned(directory: Path) -> bool:
    """Return True if a record has only plans; False also if its kind cannot be read."""
    try:
        return Run(directory).kind == KIND_PLANNED
    except RecordUnreadableError:
        return False


def _named(name: str, runs_dir: Path) -> Path:
    if _is_path_of_record(name):
        return Path(name).absolute()
    runs = list_runs(runs_dir)
    if not runs:
        raise RecordUnreadableError(
            f"no runs in {runs_dir}. Make one with `assay run tpch`, or name another directory "
            "with --runs."
        )
    if name == "latest":
        measured = (path for path in reversed(runs) if not _is_planned(path))
        return next(measured, runs[-1]).absolute()
    ids = [path.name for path in runs]
    matches = [path for path in runs if name in {path.name, path.name.rsplit("-", 1)[-1]}]
    matches = matches or [path for path in runs if path.name.startswith(name)]
    if len(matches) == 1:
        return matches[0].absolute()
    if matches:
        raise RecordUnreadableError(
            f"{len(matches)} runs in {runs_dir} begin with {name!r}: give a longer id."
        )
    of_workload = [run_id for run_id in ids if f"-{name}-" in run_id]
    advice = f"the newest of {name} is {of_workload[-1]}" if of_workload else ""
    advice = advice or suggestion(name, ids[-20:])
    raise RecordUnreadableError(f"no run {name!r} in {runs_dir}; {advice}")


def _is_path_of_record(name: str) -> bool:
    """Return True if a name is the path of a record; a mere name never needs the directory."""
    try:
        return is_record(Path(name))
    except PermissionError as error:
        if os.sep in name:
            raise denied(Path(name), error) from error
        return False


def find_measured_run(name: str, runs_dir: Path, *, or_observed: bool = False) -> Run:
    """Find a workload's run like `find_workload_run`; a run that measured nothing is refused.

    Raises:
        RecordUnreadableError: As `find_workload_run`, or if the run ended before an operation was
            executed; the message has the reason for its end.
    """
    run = find_workload_run(name, runs_dir, or_observed=or_observed)
    if run.has("events") or run.complete or run.kind == KIND_OBSERVED:
        return run
    reason = str(run.facts.get("reason") or "it was killed").partition("\n")[0].rstrip(".")
    raise RecordUnreadableError(
        f"{run.id} measured nothing, because it ended before its first operation: {reason}. Name "
        "another run: `assay runs` lists them."
    )


def find_workload_run(name: str, runs_dir: Path, *, or_observed: bool = False) -> Run:
    """Find a workload's run by name: `latest` skips records of other kinds.

    Args:
        name: `latest`, a path, an id, or the beginning of an id.
        runs_dir: Directory of runs.
        or_observed: Whether the record of an observation is accepted, too.

    Raises:
        RecordUnreadableError: If no run has this name, or the name belongs to a record of another
            kind.
    """
    if name == "latest":
        # The newest record nearly always matches, so few are opened.
        for directory in reversed(list_runs(runs_dir)):
            run = Run(directory.absolute())
            if run.kind == KIND_RUN or (or_observed and run.kind == KIND_OBSERVED):
                warn_if_damaged(run.dir)
                return run
    run = Run(find_run(name, runs_dir))
    if run.kind == KIND_CEILING:
        raise RecordUnreadableError(
            f"{run.id} is a host's ceiling, not a run of a workload: show it with `assay show "
            f"{run.id}`, or name a run."
        )
    if run.kind == KIND_OBSERVED and not or_observed:
        raise RecordUnreadableError(
            f"{run.id} is an observation of a running server, without timed executions that "
            f"could be repeated. Show it with `assay explain {run.id}`, or name a run."
        )
    return run


class Run:
    """The record of a run: its directory, read lazily.

    Raises `RecordUnreadableError` if the directory is not a record, contains a link, or may not be
    read by this user.
    """

    def __init__(self, directory: Path) -> None:
        self.dir = directory
        check_access(directory)
        self.facts = _migrated(_read_json(directory / RUN_FILE), directory / RUN_FILE)

    @property
    def id(self) -> str:
        """Return the run's id."""
        return str(self.facts["id"])

    @property
    def kind(self) -> str:
        """Return the kind of record: `run`, `ceiling` of a host, `observed` or `planned`."""
        return str(self.facts.get("kind", KIND_RUN))

    @property
    def complete(self) -> bool:
        """Return True if the run reached its planned end."""
        return bool(self.facts["status"] == STATUS_COMPLETE)

    @cached_property
    def environment(self) -> dict[str, Any]:
        """Return host, engine version and effective settings; empty if the run ended before."""
        path = self.dir / ENVIRONMENT_FILE
        return _read_json(path) if path.exists() else {}

    @cached_property
    def driver_report(self) -> dict[str, Any] | None:
        """Return the driver's own counts; None if the run ended before the driver wrote them."""
        path = self.dir / RAW_DIR / DRIVER_FILE
        return _read_json(path) if path.exists() else None

    @property
    def driven(self) -> bool:
        """True if the whole load plan was executed, even if the run failed afterwards."""
        return (self.driver_report or {}).get("ended") == "done"

    def recovered(self, number: int) -> Recovered:
        """Return the query results from a recovered database by its number."""
        return Recovered(self.dir / RAW_DIR / RECOVERED_DIR / str(number))

    @cached_property
    def sampling(self) -> dict[str, Any] | None:
        """Return how CPU samples were taken; None if the run was not profiled."""
        path = self.dir / RAW_DIR / SAMPLING_FILE
        return _read_json(path) if path.exists() else None

    @property
    def derived(self) -> Path:
        """Return the directory of the run's analyses and reports."""
        return self.dir / DERIVED_DIR

    @property
    def sealed(self) -> bool:
        """True if the record has checksums (a seal)."""
        return (self.dir / SEAL_FILE).is_file()

    def broken_seals(self) -> list[str]:
        """Return a sentence for each file that differs from its checksum."""
        return broken_seals(self.dir) if self.sealed else []

    def has(self, stream: str) -> bool:
        """Return True if a stream was recorded."""
        return (self.dir / RAW_DIR / f"{stream}.arrows").is_file()

    @cache  # noqa: B019 - a run is read by one command and then forgotten
    def table(self, stream: str) -> pl.DataFrame:
        """Return a stream of `raw/` as a table, which is empty if nothing was recorded.

        Raises:
            RecordUnreadableError: If the file is missing or is not a stream.
        """
        import polars as pl
        import pyarrow as pa

        # Converted as a whole, a long stream would be in memory twice for a moment.
        whole = pl.concat(self.parts(stream), rechunk=False)
        if whole.height > PART_ROWS:
            # The pool would keep the memory of the last part.
            pa.default_memory_pool().release_unused()
        return whole

    def parts(self, stream: str, rows: int = PART_ROWS) -> Iterator[pl.DataFrame]:
        """Yield a stream in parts of at least `rows` rows, so that it need not fit into memory.

        Only the last part can be smaller. An empty stream is one empty part.

        Raises:
            RecordUnreadableError: If the file is missing, or a part of it cannot be read.
        """
        path = self.dir / RAW_DIR / f"{stream}.arrows"
        with readable(path), opened(path) as reader:
            batches: list[pa.RecordBatch] = []
            seen = yielded = 0
            for batch in whole_batches(reader):
                batches.append(batch)
                seen += len(batch)
                refuse_rows(seen, path)
                if seen - yielded >= rows:
                    yield frame(batches, reader.schema, path)
                    batches, yielded = [], seen
            if batches or not yielded:
                yield frame(batches, reader.schema, path)

    def status_texts(self) -> list[tuple[str, str]]:
        """Return the engine's own status texts at start and end, if they were recorded."""
        files = {edge: self.dir / RAW_DIR / name for edge, name in STATUS_FILES.items()}
        return [
            (edge, path.read_text(encoding="utf-8", errors="replace"))
            for edge, path in files.items()
            if path.is_file()
        ]

    def results(self, operation: str) -> list[tuple[str, Path]]:
        """Return an operation's stored results: digest and file of each."""
        name = re.compile(rf"{re.escape(operation)}-([0-9a-f]{{16}})-[0-9a-f]{{16}}\.arrow")
        paths = sorted((self.dir / RAW_DIR / RESULTS_DIR).glob("*.arrow"))
        return [(match[1], path) for path in paths if (match := name.fullmatch(path.name))]

    def expected(self, operation: str, variant: int = 0, state: int = 0) -> Path | None:
        """Return the file of the expected rows of an operation; None if they are not known.

        A file that is named after the operation alone holds the rows for default parameters on the
        loaded data. A file named after the operation alone serves all variants.
        """
        folder = self.dir / RAW_DIR / RESULTS_DIR / EXPECTED_DIR
        names = [f"{operation}-{variant}-{state}.csv", *([f"{operation}.csv"] if not state else [])]
        return next((folder / name for name in names if (folder / name).is_file()), None)

    @cached_property
    def expected_origin(self) -> dict[str, Any]:
        """Return where expected rows came from, and why some are missing; empty if not recorded."""
        path = self.dir / RAW_DIR / RESULTS_DIR / EXPECTED_DIR / EXPECTED_ORIGIN_FILE
        return _read_json(path) if path.exists() else {}


def said(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request without options that are off, zero, empty or not given.

    Older records lack options that were added later. Without empty options, requests of old and new
    records can be compared.
    """
    return {name: value for name, value in request.items() if value not in SAYS_NOTHING}


def took_s(run: Run) -> float | None:
    """Return the seconds from a run's start to its end by the monotonic clock.

    The result is None if the run did not end. Older records have only times of the wall clock; the
    result is also None if that clock was set back so far that the run ended before it began.
    """
    if isinstance(seconds := run.facts.get("took_s"), (int, float)) and seconds >= 0.0:
        return float(seconds)
    begun, ended = run.facts.get("started_utc"), run.facts.get("ended_utc")
    if not begun or not ended:
        return None
    by_wall_s = (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()
    return by_wall_s if by_wall_s >= 0.0 else None


class Recovered:
    """The directory with the query results of a recovered database."""

    def __init__(self, directory: Path) -> None:
        self.dir = directory

    def rows(self, operation: str) -> pl.DataFrame | None:
        """Return an operation's rows; None if it returned none, or too many to keep.

        Raises:
            RecordUnreadableError: If the file is damaged.
        """
        path = next((self.dir / RESULTS_DIR).glob(f"{glob.escape(operation)}-*.arrow"), None)
        return None if path is None else read_result(path)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Return the rows of each operation that succeeded, in the order of execution."""
        import polars as pl

        path = self.dir / "events.arrows"
        if not path.exists():
            return {}
        with readable(path), opened(path) as reader:
            events = frame(list(whole_batches(reader)), reader.schema, path)
        succeeded = events.filter(pl.col("outcome").cast(pl.String) == "ok")
        return dict(succeeded.select(pl.col("operation").cast(pl.String), "rows").iter_rows())


def _read_json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        if is_record(path.parent):
            raise RecordDamagedError(
                f"{path} is missing. The record is damaged; restore it from a copy."
            ) from error
        raise RecordUnreadableError(f"{path} is missing: this is not a run directory.") from error
    except PermissionError as error:
        raise denied(path, error) from error
    except (OSError, ValueError, RecursionError) as error:
        raise RecordDamagedError(
            f"{path} cannot be read: {error}. The record is damaged; restore it from a copy."
        ) from error
    if not isinstance(document, dict):
        raise RecordDamagedError(f"{path} contains no JSON object; the record is damaged.")
    return document


def _migrated(facts: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the facts of a run in the current schema version.

    Migrations between schema versions will be here, one per version.
    """
    version = facts.get("schema")
    if not isinstance(version, int) or version < 1:
        raise RecordDamagedError(f"{path} has no schema version; the record is damaged.")
    if version > SCHEMA_VERSION:
        raise RecordNewerError(
            f"{path} has schema version {version}, and this Assay reads up to {SCHEMA_VERSION}: "
            "use a newer Assay."
        )
    missing = [key for key in ("id", "status") if key not in facts]
    if missing:
        raise RecordDamagedError(f"{path} lacks {missing[0]!r}; the record is damaged.")
    return facts


@contextmanager
def damage_reported(run: Run) -> Iterator[None]:
    """Turn any failure to read a changed record into `RecordUnreadableError`."""
    try:
        yield
    except (AssayError, OSError):
        raise
    except Exception as error:
        if broken := run.broken_seals():
            raise RecordUnreadableError(
                f"{run.dir} was changed after it was sealed: {broken[0]}. Restore it from a copy."
            ) from error
        raise
