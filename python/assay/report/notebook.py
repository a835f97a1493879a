"""API for notebooks: the document, tables and charts of a finished run or study."""

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
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from assay.record.reader import Run
    from assay.record.studies import StudyRun
    from assay.report.documents.findings import FindingRow
    from assay.report.documents.run import RunDocument
    from assay.report.documents.study import StudyDocument
    from assay.report.documents.time import TimeTreeNode
    from assay.report.documents.why import WhyDocument


# Columns of the tables; columns that are neither texts nor counts have the type float.
OPERATIONS = ("operation", "seconds", "share", "passes", "rows", "outcome", "error", "cores")
TIME = ("operation", "path", "title", "share", "source")
CHANGES = ("operation", "before_s", "after_s", "factor", "low", "high", "verdict", "plan")
TEXTS = frozenset({"operation", "outcome", "error", "path", "title", "source", "verdict", "plan"})
COUNTS = frozenset({"passes", "rows"})


class LoadedRun:
    """One run in a notebook, whose results are computed at their first use.

    Attributes:
        run: The record of the run.
    """

    def __init__(self, run: Run, built: RunDocument | None = None) -> None:
        self.run = run
        self._built = built

    def __repr__(self) -> str:
        return f"<run {self.run.id}, {self.run.facts['status']}>"

    @cached_property
    def document(self) -> RunDocument:
        """Return the document of the run, as `assay show --json` prints it."""
        return document(self.run, self.run.dir) if self._built is None else self._built

    @cached_property
    def charts(self) -> Charts:
        """Return the run's Altair charts, such as `.operations`; `.names` has all names."""
        return Charts(self.document, read_timeline(self.run), read_load(self.run))

    @property
    def verdict(self) -> str:
        """Return the worst verdict of all checks: `valid`, `invalid` or `unknown`."""
        return self.document["verdict"]

    @cached_property
    def operations(self) -> pl.DataFrame:
        """Return one row for each operation of the measured part.

        Columns: `operation`, `seconds` (median service time), `share` (of the sum of all, 0 to 1),
        `passes`, `rows`, `outcome` (`ok`, `failed` or `skipped`), `error` (class of the first
        error) and `cores` (CPU seconds a second). Values that were not measured are null.
        """
        import polars as pl

        rows = [
            (
                row["name"],
                row["seconds"],
                row["share"],
                row["passes"],
                row["rows"],
                row["outcome"],
                row["error"],
                row["parallelism"],
            )
            for row in self.document["operations"]
        ]
        return pl.DataFrame(rows, schema=_schema(OPERATIONS), orient="row")

    @cached_property
    def causes(self) -> list[FindingRow]:
        """Return the causes of the run's time, the largest effect first.

        Each has `claim`, `effect_share` (of the run's time, 0 to 1), `certainty` (`seen` by two
        independent witnesses, or `suspected`), `evidence`, `operations`, `to_try`, and on a running
        server `change`: the statements that make the advised change and take it back.
        """
        return [row for row in self.document["findings"] if row["tells"] == "cause"]

    @cached_property
    def time(self) -> pl.DataFrame:
        """Return the run's time trees (time by cause) as a table, parents first.

        Columns: `operation` (null: all together), `path` (such as `waiting/lock`; empty means the
        whole tree), `title`, `share` (of the tree's wall time, 0 to 1; the parts of a node add up
        to its share) and `source` (the measurement that split the time). The table is empty if the
        time was not split.
        """
        import polars as pl

        section = self.document["time"]
        trees = [(None, section["run"]), *section["operations"].items()]
        rows = [row for name, tree in trees if tree is not None for row in _nodes(name, tree, "")]
        return pl.DataFrame(rows, schema=_schema(TIME), orient="row")

    def before_after(self, before: LoadedRun) -> pl.DataFrame:
        """Return each operation's time in an earlier run and in this one.

        Columns: `operation`, `before_s`, `after_s` (geometric means over passes), `factor` (after
        divided by before), `low`, `high` (95 % interval of the factor; null means fewer than three
        passes in a run), `verdict` (`faster`, `slower`, `within noise`, `not known`, `other text`)
        and `plan` (changes of the operation's plan; null without changes).
        """
        import polars as pl

        from assay.report.sections.before_after import before_after

        rows = [
            (
                row["operation"],
                row["before_s"],
                row["after_s"],
                row["factor"],
                *(row["interval"] or (None, None)),
                row["verdict"],
                row["plan"],
            )
            for row in before_after(before.run, self.run)["operations"]
        ]
        return pl.DataFrame(rows, schema=_schema(CHANGES), orient="row")

    def table(self, stream: str) -> pl.DataFrame:
        """Return a stream of the record, such as `events`, `processes` or `disks`.

        Raises:
            RecordUnreadableError: If the run has no such stream.
        """
        return self.run.table(stream)


def _schema(columns: Sequence[str]) -> dict[str, pl.DataType | type[pl.DataType]]:
    import polars as pl

    return {
        name: pl.String if name in TEXTS else pl.Int64 if name in COUNTS else pl.Float64
        for name in columns
    }


def _nodes(
    operation: str | None, node: TimeTreeNode, path: str
) -> Iterator[tuple[str | None, str, str, float, str | None]]:
    """Yield a node of a time tree with its path, then all nodes below it."""
    yield operation, path, node["title"], node["share"], node["source"]
    for child in node["children"]:
        yield from _nodes(operation, child, f"{path}/{child['name']}".removeprefix("/"))


class LoadedStudy:
    """Several runs that answer one question, in a notebook.

    Attributes:
        directory: Directory of its `study.toml`.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __repr__(self) -> str:
        return f"<study {self.directory.name}, {read_study(self.directory).status}>"

    @cached_property
    def document(self) -> StudyDocument:
        """Return the document of the study, as `assay show --json` prints it."""
        return build_study(self.directory)

    @cached_property
    def failed(self) -> list[StudyRun]:
        """Return the runs of the study that failed."""
        return read_study(self.directory).failed()


class LoadedPlans(LoadedStudy):
    """A study in a notebook that compares forced plans of a query with the chosen plan."""

    @cached_property
    def answers_agree(self) -> bool:
        """Return True if every forced plan returned the same rows as the chosen plan."""
        tables = (table for figure in self.document["figures"] for table in figure["tables"])
        rows = (row for table in tables if table["name"] == TABLE for row in table["rows"])
        return all(row[-1] != OTHER_ANSWER for row in rows)


class LoadedWhy(LoadedStudy):
    """A study in a notebook in which each resource was made scarce in turn."""

    @cached_property
    def bounds(self) -> WhyDocument:
        """Return the resource that limits each operation, as `assay why --json` prints it."""
        return why_document(read_study(self.directory), self.document["report"])


def load_run(name: str = "latest", runs: str | Path | None = None) -> LoadedRun:
    """Open a run by `latest`, an id, the beginning of an id, or a path.

    Args:
        name: `latest`, an id, the beginning of an id, or a path.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.

    Raises:
        RecordUnreadableError: If no run has this name, or its record is damaged.
    """
    return LoadedRun(find_workload_run(name, runs_dir(runs), or_observed=True))
