"""The formats of exported profiles, and the files that exports write."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.model.whole_file import made_directories, whole_file
from assay.report.profile_exports import firefox, flamegraph, folded, pprof
from assay.report.profile_exports.source import read_source

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from assay.record.reader import Run

FORMATS = {"folded": folded, "firefox": firefox, "flamegraph": flamegraph, "pprof": pprof}


def export_profile(run: Run, to: str, out: Path | None, operation: str | None) -> Path:
    """Write the samples of a run, or of one operation, and return the file's path.

    Args:
        run: A profiled run.
        to: Format, one of `FORMATS`.
        out: The file, or an existing directory; None means the current directory.
        operation: Name of the only operation to export; None exports all.

    Raises:
        UsageError: If the run was not profiled, has no samples of the operation, or the file exists
            already.
        RecordUnreadableError: If a stream is damaged.
        OSError: If the file cannot be written.
    """
    chosen = FORMATS[to]
    path = out or Path()
    if path.is_dir():
        path /= "-".join(filter(None, (run.id, operation))) + chosen.SUFFIX
    if path.is_file():
        raise UsageError(f"{path} exists already: remove it, or name another --out")
    source = read_source(run, operation)
    with made_directories(path.parent), _place(path) as writable, writable.open("wb") as file:
        chosen.write(source, file)
    return path


def _place(path: Path) -> AbstractContextManager[Path]:
    """Return the path to write a new file to; a pipe or a device is written directly."""
    return nullcontext(path) if path.exists() else whole_file(path)
