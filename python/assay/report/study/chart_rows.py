"""Row types of a study's charts, with the fields that Vega-Lite encodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypeAlias, TypedDict

if TYPE_CHECKING:
    from assay.report.documents.study import ChartEntry


class MeasureRow(TypedDict):
    """A chart row: an engine's value of a quantity, or its share of a table's column.

    `at` is the position on a numeric axis; `low` and `high` are the spread over rounds.
    """

    subject: str
    key: str
    measure: str
    unit: str
    value: float
    label: str
    at: NotRequired[float | None]
    low: NotRequired[float]
    high: NotRequired[float]


class TippedRow(MeasureRow):
    """A chart row of a bar, with the position where its longest mark ends."""

    tip: float


class SegmentRow(MeasureRow):
    """A chart row of one segment of a stacked bar, from `begin` to `end`."""

    begin: float
    end: float


class PanelRow(TypedDict):
    """A chart row of a point in a panel: column `what`, position `place` and `x`."""

    panel: str
    x: float
    what: str
    place: int
    value: float


class CurveRow(TypedDict):
    """A chart row of a point on a curve."""

    curve: str
    key: str | None
    x: float
    y: float
    low: float | None
    high: float | None
    drawn: str
    unit: str | None


class LabelledCurveRow(CurveRow):
    """A chart row of a point on a curve, with readable texts."""

    place: str
    value: str


class TradeRow(TypedDict):
    """A chart row of an engine's counter value at one level of a setting."""

    panel: str
    counter: str
    unit: str
    subject: str
    level: str
    value: float
    low: float | None
    high: float | None
    drawn: str


class LabelledTradeRow(TradeRow):
    """A chart row of a setting's trade-off, with readable text."""

    label: str


class FieldRow(TypedDict):
    """A heat map cell: level `down` of one factor and level `across` of another."""

    down: str
    of: str
    across: str
    value: float
    label: str


class RatioRow(TypedDict):
    """A chart row of a ratio of two compared systems, with its interval."""

    name: str
    ratio: float
    low: float
    high: float
    says: str
    label: str


class StepRow(TypedDict):
    """A waterfall chart step: a cause's share of a time difference, in milliseconds."""

    name: str
    begin: float
    end: float
    says: str
    label: str


TableChartRow: TypeAlias = PanelRow | CurveRow | TradeRow | FieldRow | RatioRow | StepRow


class RelativeChart(TypedDict):
    """A chart of ratios to a base, made from a study's compared quantities.

    The keys are those of `ChartEntry`.
    """

    name: str
    title: str
    kind: Literal["relative"]
    keys: list[str]
    logarithmic: bool
    axis: None
    table: None


ShownChart: TypeAlias = "ChartEntry | RelativeChart"
