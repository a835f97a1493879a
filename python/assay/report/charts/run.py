"""All charts of a run, as Altair charts made from its document and its time series.

The charts set no text or background colour, so that they fit light and dark pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from assay.model.errors import UsageError
from assay.report.charts import cluster as cluster_chart
from assay.report.charts import counters as counter_charts
from assay.report.charts import load as load_charts
from assay.report.charts import passes as passes_chart
from assay.report.charts import profile as profile_charts
from assay.report.charts import requests as requests_chart
from assay.report.charts import specified as test_charts
from assay.report.charts import steady as steady_chart
from assay.report.charts import storage as storage_chart
from assay.report.charts import timeline as timeline_chart
from assay.report.charts import where as where_chart
from assay.report.charts.data import inline
from assay.report.charts.palette import GREY, WIDTH
from assay.report.charts.sections import SECTION_CHARTS
from assay.report.csv_text import csv_of

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from assay.analysis.host.timeline import Timeline
    from assay.analysis.load.view import LoadView
    from assay.report.documents.figures import Percentile
    from assay.report.documents.load.operations import OperationRow
    from assay.report.documents.run import RunDocument

TIMES: tuple[Literal["latency", "service"], ...] = ("latency", "service")
PERCENTILES: tuple[Percentile, ...] = ("p50", "p90", "p95", "p99", "p999", "max")
NOT_OF_THIS_LOAD = (
    "A closed or an open load draws its operations at random, so it has no passes to compare.",
    "This load has no such chart: only open loads have a backlog, and the power order has none.",
)


class Charts:
    """The charts of one run; a chart without data shows the reason."""

    POWER_NAMES = ("operations", "timeline", "passes")
    LOAD_NAMES = load_charts.NAMES
    TEST_NAMES = test_charts.NAMES
    NAMES = (*TEST_NAMES, *POWER_NAMES, *LOAD_NAMES, *SECTION_CHARTS)

    def __init__(
        self, document: RunDocument, timeline: Timeline | None, load: LoadView | None = None
    ) -> None:
        self._document = document
        self._timeline = timeline
        self._load = load

    def __getitem__(self, name: str) -> alt.TopLevelMixin:
        """Return a chart of the run by its name."""
        if name not in self.NAMES:
            raise UsageError(f"unknown chart {name!r}; known: {', '.join(self.NAMES)}")
        if name in self.LOAD_NAMES:
            return self._load_chart(name)
        if name in self.TEST_NAMES:
            return self._test_chart(name)
        chart: alt.TopLevelMixin = getattr(self, name)
        return chart

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the run's charts, in the order of the page."""
        extras = [
            name for name, chart in SECTION_CHARTS.items() if chart.has_section(self._document)
        ]
        if self._document["conditions"]["clients"] is None:
            of_test = () if self._document["test"] is None else self.TEST_NAMES
            return (*of_test, *self.POWER_NAMES, *extras)
        closed = self._document["conditions"]["rate_per_s"] is None
        left_out = "backlog" if closed else None
        of_load = [name for name in self.LOAD_NAMES if name != left_out]
        if where_chart.why_empty(self._document) is None:
            of_load.append(where_chart.NAME)
        return (*of_load, "timeline", *extras)

    def _test_chart(self, name: str) -> alt.TopLevelMixin:
        why, test = self.why_empty(name), self._document["test"]
        if why or test is None:
            return _sentence(str(why))
        return styled(test_charts.chart(name, test))

    def _load_chart(self, name: str) -> alt.TopLevelMixin:
        why = self.why_empty(name)
        if why or self._load is None:
            return _sentence(str(why))
        return styled(load_charts.chart(name, self._load, self._document))

    @property
    def operations(self) -> alt.TopLevelMixin:
        """Return the chart of each operation's time as a bar, split by cause."""
        why = self.why_empty("operations")
        return _sentence(why) if why else styled(where_chart.chart(self._document))

    @property
    def timeline(self) -> alt.TopLevelMixin:
        """Return the chart of operations, CPU, memory, disk and pressure over one time axis."""
        why = self.why_empty("timeline")
        if why or self._timeline is None:
            return _sentence(str(why))
        return styled(timeline_chart.chart(self._timeline, self._document))

    @property
    def passes(self) -> alt.TopLevelMixin:
        """Return the chart of each execution as a dot around its operation's median."""
        why = self.why_empty("passes")
        if why or self._timeline is None:
            return _sentence(str(why))
        return styled(passes_chart.chart(self._timeline.passes))

    @property
    def steady(self) -> alt.TopLevelMixin:
        """Return a chart of query mixes: throughput and bytes read, over the number of mixes."""
        return self._section_chart(steady_chart.NAME)

    @property
    def counters(self) -> alt.TopLevelMixin:
        """Return the chart of the engine's counters over time."""
        return self._section_chart(counter_charts.NAME)

    @property
    def cluster(self) -> alt.TopLevelMixin:
        """Return the chart of each node's cores, messages, bytes and waits over time."""
        return self._section_chart(cluster_chart.NAME)

    @property
    def storage(self) -> alt.TopLevelMixin:
        """Return a chart of CPU utilisation and of I/O on the disk with the data."""
        return self._section_chart(storage_chart.NAME)

    @property
    def contiguity(self) -> alt.TopLevelMixin:
        """Return the chart of reads by distance from the previous read, and by sequential run."""
        return self._section_chart(requests_chart.NAME)

    @property
    def work(self) -> alt.TopLevelMixin:
        """Return the chart of each operation's kinds of work, by CPU samples."""
        return self._section_chart(profile_charts.NAME)

    def _section_chart(self, name: str) -> alt.TopLevelMixin:
        why = self.why_empty(name)
        drawn = None if why else SECTION_CHARTS[name].chart(self._document)
        return _sentence(str(why)) if drawn is None else styled(drawn)

    def why_empty(self, name: str) -> str | None:
        """Return why a chart of the run is empty; None if it is not."""
        if name in SECTION_CHARTS:
            return SECTION_CHARTS[name].why_empty(self._document)
        if name in self.TEST_NAMES:
            return test_charts.why_empty(name, self._document["test"])
        if name == where_chart.NAME:
            return where_chart.why_empty(self._document)
        if name not in self.names:
            return NOT_OF_THIS_LOAD[name in self.LOAD_NAMES]
        if name in self.LOAD_NAMES:
            return None if self._load else "No operation of the measured part ended."
        return self._why_empty_by_pass(name)

    def _why_empty_by_pass(self, name: str) -> str | None:
        if not self._document["operations"]:
            return where_chart.NOTHING_MEASURED
        if name == "timeline" and (self._timeline is None or self._timeline.bands.is_empty()):
            return "No operation was started and ended within the record."
        if name == "passes":
            if self._timeline is None or self._timeline.passes.is_empty():
                return "No measured pass succeeded."
            if self._document["metrics"]["passes"] == 1:
                return "One pass was measured, so there is no spread to show."
        return None

    def data(self, name: str) -> dict[str, str]:
        """Return the data of a chart as CSV texts, by the label of the download link."""
        import polars as pl

        if name in SECTION_CHARTS or name in self.TEST_NAMES:
            table = self._section_table(name)
            return {} if table is None else {"data (CSV)": csv_of(table)}
        if name in self.LOAD_NAMES and self._load is not None:
            return {"data (CSV)": csv_of(load_charts.data(name, self._load))}
        if name == "operations" or self._timeline is None:
            rows = [flat_operation(op) for op in self._document["operations"]]
            return {"data (CSV)": csv_of(pl.DataFrame(rows, infer_schema_length=None))}
        if name == "passes":
            return {"data (CSV)": csv_of(self._timeline.passes)}
        return {
            "data (CSV)": csv_of(timeline_chart.data(self._timeline)),
            "operations (CSV)": csv_of(self._timeline.bands),
        }

    def _section_table(self, name: str) -> pl.DataFrame | None:
        """Return the data of a chart that draws one document section; None without the section."""
        document = self._document
        if name in self.TEST_NAMES:
            return None if document["test"] is None else test_charts.data(name, document["test"])
        return SECTION_CHARTS[name].data(document)


def flat_operation(operation: OperationRow) -> dict[str, object]:
    """Return one operation as a row with a column for each cause's share of its time.

    Retries by error class have no column, because the classes differ by run.
    """
    nested = {"where", "retries_by_class", *TIMES}
    row = {key: value for key, value in operation.items() if key not in nested}
    row |= {f"{part}_share": share for part, share in operation["where"].items()}
    for times in TIMES:
        distribution = operation[times]
        row |= {
            f"{times}_seconds_{name}": None if distribution is None else distribution[name]
            for name in PERCENTILES
        }
    return row


def styled(chart: alt.TopLevelMixin) -> alt.TopLevelMixin:
    """Return a chart with the fonts and line styles that all charts share."""
    font = "system-ui, sans-serif"
    styled: alt.TopLevelMixin = chart.configure(
        font=font,
        view={"stroke": None},
        axis={"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": 500, "domain": False},
        axisY={"ticks": False, "labelPadding": 6},
        legend={
            "orient": "top",
            "title": None,
            "labelFontSize": 11,
            "symbolType": "square",
            "labelLimit": 220,
            "columns": 5,
            "offset": 6,
        },
        concat={"spacing": 10},
    )
    return styled


def _sentence(reason: str) -> alt.TopLevelMixin:
    """Return a chart that shows only the reason why its data are missing."""
    import altair as alt

    data = inline([{"words": reason}])
    text = alt.Chart(data, width=WIDTH, height=60).mark_text(fontSize=13, color=GREY)
    sentence: alt.TopLevelMixin = text.encode(text=alt.Text("words:N"))
    return sentence
