"""`assay report`: writes a run's or a study's report again."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from assay.model.errors import RunFailedError
from assay.record.places import runs_dir
from assay.record.studies import find_run_or_study
from assay.report.build import build
from assay.report.study.build import build_study

if TYPE_CHECKING:
    from pathlib import Path

    from assay.report.documents.ceiling import CeilingDocument
    from assay.report.documents.run import RunDocument
    from assay.report.documents.study import StudyDocument


def report(
    which: str = "latest", *, runs: Path | str | None = None
) -> RunDocument | StudyDocument | CeilingDocument:
    """Writes a run's or a study's report again: an HTML file for any browser.

    Args:
        which: `latest`, an id, the beginning of an id, or a path.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.

    Returns:
        The document of the run or study; its `report` is the path of the file.

    Raises:
        RecordUnreadableError: If no run or study has this name, or its record is damaged.
        RunFailedError: If the file cannot be written.
    """
    directory, is_study = find_run_or_study(which, runs_dir(runs))
    document = build_study(directory) if is_study else build(directory)
    if document["report"] is None:
        raise RunFailedError(
            f"the report could not be written below {document['path']}: check that the "
            "directory is writable and has free space"
        )
    return cast("RunDocument | StudyDocument | CeilingDocument", document)
