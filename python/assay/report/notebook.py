"""A finished run or study for a notebook: its document, its tables and its charts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from assay.analysis.figures.bounds.plans import OTHER_ANSWER, TABLE
from assay.record.places import runs_dir
from assay.record.reader import find_workload_run
from assay.record.studies import read_study
from assay.report.charts.run import Charts
from assay.report.document import document
from assay.report.page.record import read_load, read_timeline
from assay.report.sections.why import why_document
from assay.report.study.build import build_study

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from assay.record.reader import Run
    from assay.record.studies import StudyRun
    from assay.report.documents.run import RunDocument
    from assay.report.documents.study import StudyDocument
    from assay.report.documents.why import WhyDocument


class LoadedRun:
    """One run. Figures are computed when they are first asked for.

    Attributes:
        run: The record, as its reader gives it.
    """

    def __init__(self, run: Run, built: RunDocument | None = None) -> None:
        self.run = run
        self._built = built

    def __repr__(self) -> str:
        return f"<run {self.run.id}, {self.run.facts['status']}>"

    @cached_property
    def document(self) -> RunDocument:
        """The document of the run, as `assay show --json` prints it."""
        return document(self.run, self.run.dir) if self._built is None else self._built

    @cached_property
    def charts(self) -> Charts:
        """`.operations`, `.timeline` and `.passes`, as Altair charts; `.names`: all."""
        return Charts(self.document, read_timeline(self.run), read_load(self.run))

    def table(self, stream: str) -> pl.DataFrame:
        """A stream of the record, such as `events`, `processes` or `disks`.

        Raises:
            RecordUnreadableError: If the run has no such stream.
        """
        return self.run.table(stream)


class LoadedStudy:
    """Several runs that answer one question. Figures are computed when they are first asked for.

    Attributes:
        directory: Where its `study.toml` is.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __repr__(self) -> str:
        return f"<study {self.directory.name}, {read_study(self.directory).status}>"

    @cached_property
    def document(self) -> StudyDocument:
        """The document of the study, as `assay show --json` prints it."""
        return build_study(self.directory)

    @cached_property
    def failed(self) -> list[StudyRun]:
        """Runs that were tried and failed."""
        return read_study(self.directory).failed()


class LoadedPlans(LoadedStudy):
    """Plans of a query, timed beside the one that the engine chooses."""

    @cached_property
    def answers_agree(self) -> bool:
        """Whether each plan gave the answer of the chosen one."""
        tables = (table for figure in self.document["figures"] for table in figure["tables"])
        rows = (row for table in tables if table["name"] == TABLE for row in table["rows"])
        return all(row[-1] != OTHER_ANSWER for row in rows)


class LoadedWhy(LoadedStudy):
    """Resources that were made scarce in turns."""

    @cached_property
    def bounds(self) -> WhyDocument:
        """What bounds each operation, as `assay why --json` prints it."""
        return why_document(read_study(self.directory), self.document["report"])


def load_run(name: str = "latest", runs: str | Path | None = None) -> LoadedRun:
    """Opens a run by `latest`, an id, the beginning of one, or a path.

    Args:
        name: Which run.
        runs: The directory of runs; `ASSAY_RUNS`, else `./runs`, unless given.

    Raises:
        RecordUnreadableError: If there is no such run or its record is damaged.
    """
    return LoadedRun(find_workload_run(name, runs_dir(runs)))
