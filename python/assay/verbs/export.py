"""`assay export`: what was measured, in the formats of other tools."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.record.places import runs_dir
from assay.record.reader import Run, find_run
from assay.report.exports import export as written


@dataclass(frozen=True)
class Exported:
    """Files that were written.

    Attributes:
        run: Id of the run.
        files: In the order in which they were written.
    """

    run: str
    files: list[Path]

    @property
    def document(self) -> dict[str, object]:
        """Return what `assay export --json` prints."""
        return {"run": self.run, "files": [str(path) for path in self.files]}


def export(
    which: str = "latest",
    *,
    to: str = "csv",
    out: Path | str | None = None,
    operation: str | None = None,
    runs: Path | str | None = None,
) -> Exported:
    """Writes a run's tables as CSV, JSON or Parquet, or its CPU samples for tools that show them.

    Args:
        which: `latest`, an id, the beginning of one, or a path.
        to: `csv`, `json` or `parquet`; of a profile `folded`, `firefox`, `flamegraph` or `pprof`.
        out: Directory to write into, of a profile the file; None: named by the run's id, here.
        operation: Only the samples of this operation.
        runs: Directory of runs; `$ASSAY_RUNS`, else `./runs`, unless given.

    Raises:
        UsageError: If there is no such format, or the run has no samples for it.
        RecordUnreadableError: If there is no such run or its record is damaged.
    """
    run = Run(find_run(which, runs_dir(runs)))
    return Exported(run.id, written(run, to, None if out is None else Path(out), operation))
