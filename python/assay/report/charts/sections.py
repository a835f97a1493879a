"""Charts of a run that each draw one section of its JSON document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from assay.report.charts import cluster as cluster_chart
from assay.report.charts import counters as counter_charts
from assay.report.charts import profile as profile_charts
from assay.report.charts import requests as requests_chart
from assay.report.charts import steady as steady_chart
from assay.report.charts import storage as storage_chart

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt
    import polars as pl

    from assay.report.documents.host.storage import RequestsSection
    from assay.report.documents.run import RunDocument

Section = TypeVar("Section")


@dataclass(frozen=True)
class SectionChart(Generic[Section]):
    """A chart that draws one section of a run's JSON document.

    Attributes:
        section: Function that returns the chart's section of a document; None if the run has no
            such chart.
        why_empty: Function that returns the reason why a document has no chart; None if it has one.
        chart_of: Function that makes the chart from the section and the measured part's end in
            seconds.
        table_of: Function that returns the drawn data of the section as one table.
    """

    section: Callable[[RunDocument], Section | None]
    why_empty: Callable[[RunDocument], str | None]
    chart_of: Callable[[Section, float], alt.TopLevelMixin]
    table_of: Callable[[Section], pl.DataFrame]

    def has_section(self, document: RunDocument) -> bool:
        """Return True if the document has the section that this chart draws."""
        return self.section(document) is not None

    def chart(self, document: RunDocument) -> alt.TopLevelMixin | None:
        """Return the chart without common styles; None if the document lacks the section."""
        section = self.section(document)
        if section is None:
            return None
        return self.chart_of(section, document["metrics"]["measured_seconds"] or 0.0)

    def data(self, document: RunDocument) -> pl.DataFrame | None:
        """Return the chart's data as one table; None without the section."""
        section = self.section(document)
        return None if section is None else self.table_of(section)


def _requests(document: RunDocument) -> RequestsSection | None:
    storage = document["storage"]
    return None if storage is None else storage["requests"]


# The charts in the order of a page.
SECTION_CHARTS: dict[str, SectionChart[Any]] = {
    steady_chart.NAME: SectionChart(
        lambda document: document["steady"],
        lambda document: steady_chart.why_empty(document["steady"]),
        lambda section, _: steady_chart.chart(section),
        steady_chart.data,
    ),
    profile_charts.NAME: SectionChart(
        lambda document: document["profile"],
        lambda document: profile_charts.why_empty(document["profile"]),
        lambda section, _: profile_charts.chart(section),
        profile_charts.data,
    ),
    counter_charts.NAME: SectionChart(
        lambda document: document["engine_counters"],
        lambda document: counter_charts.why_empty(document["engine_counters"]),
        counter_charts.chart,
        counter_charts.data,
    ),
    cluster_chart.NAME: SectionChart(
        lambda document: document["cluster"],
        lambda document: cluster_chart.why_empty(document["cluster"]),
        cluster_chart.chart,
        cluster_chart.data,
    ),
    storage_chart.NAME: SectionChart(
        lambda document: document["storage"],
        lambda document: storage_chart.why_empty(document["storage"]),
        storage_chart.chart,
        storage_chart.data,
    ),
    requests_chart.NAME: SectionChart(
        _requests,
        lambda document: requests_chart.why_empty(document["storage"]),
        lambda section, _: requests_chart.chart(section),
        requests_chart.data,
    ),
}
