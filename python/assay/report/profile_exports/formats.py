"""The formats of exported profiles, and the files that exports write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.report.profile_exports import firefox, flamegraph, folded, pprof
from assay.report.profile_exports.source import read_source

if TYPE_CHECKING:
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
        UsageError: If the run was not profiled, or has no samples of the operation.
        RecordUnreadableError: If a stream is damaged.
        OSError: If the file cannot be written.
    """
    chosen = FORMATS[to]
    source = read_source(run, operation)
    path = out or Path()
    if path.is_dir():
        path /= "-".join(filter(None, (run.id, operation))) + chosen.SUFFIX
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        chosen.write(source, file)
    return path
