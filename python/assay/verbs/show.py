"""`assay show`: shows the result of a run, a study or a ceiling."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from assay.record.damage import damage_of
from assay.record.places import runs_dir
from assay.record.studies import find_run_or_study
from assay.report.kept import current

if TYPE_CHECKING:
    from pathlib import Path

    from assay.report.documents.ceiling import CeilingDocument
    from assay.report.documents.diagnose import PlacedDiagnosis
    from assay.report.documents.run import RunDocument
    from assay.report.documents.study import StudyDocument


def show(
    which: str = "latest", *, runs: Path | str | None = None
) -> RunDocument | StudyDocument | CeilingDocument | PlacedDiagnosis:
    """Returns the document of a run, study, diagnosis or ceiling that `assay show --json` prints.

    The stored document beside the record is returned if it is up to date.

    Args:
        which: `latest`, an id, the beginning of an id, or a path.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.

    Raises:
        RecordUnreadableError: If no run or study has this name, or its record is damaged.
    """
    directory, is_study = find_run_or_study(which, runs_dir(runs))
    if is_study:
        from assay.report.diagnosis.build import kept_diagnosis
        from assay.report.study.build import build_study

        return kept_diagnosis(directory) or build_study(directory)
    # A stored document is validated by file sizes and times, which a failing disk does not change.
    document = None if damage_of(directory) else current(directory)
    if document is None:
        from assay.report.build import build

        document = build(directory)
    return cast("RunDocument | CeilingDocument", document)
