"""`assay export`: writes measurements in the formats of other tools."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.record.places import runs_dir
from assay.record.reader import Run, find_run
from assay.report.exports import export as written


@dataclass(frozen=True)
class Exported:
    """The files that `assay export` wrote.

    Attributes:
        run: Id of the run.
        files: Files in the order of writing.
    """

    run: str
    files: list[Path]

    @property
    def document(self) -> dict[str, object]:
        """Return the document that `assay export --json` prints."""
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
        which: `latest`, an id, the beginning of an id, or a path.
        to: `csv`, `json` or `parquet`; for CPU samples `folded`, `firefox`, `flamegraph` or
            `pprof`.
        out: Directory to write to, or the file for CPU samples; None means named after the run's
            id, in the current directory.
        operation: Export only the samples of this operation.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.

    Raises:
        UsageError: If the format is unknown, or needs samples that the run does not have.
        RecordUnreadableError: If no run has this name, or its record is damaged.
    """
    run = Run(find_run(which, runs_dir(runs)))
    return Exported(run.id, written(run, to, None if out is None else Path(out), operation))
