"""Rows that charts of a study draw, with the fields that Vega-Lite encodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypeAlias, TypedDict

if TYPE_CHECKING:
    from assay.report.documents.study import ChartEntry


class MeasureRow(TypedDict):
    """A subject's value of a measure, or a subject's share of a table's column.

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
    """A bar with the position where its longest mark ends."""

    tip: float


class SegmentRow(MeasureRow):
    """A part of a stacked bar, from `begin` to `end`."""

    begin: float
    end: float


class PanelRow(TypedDict):
    """A value in a panel: its column `what`, its position `place` and its `x`."""

    panel: str
    x: float
    what: str
    place: int
    value: float


class CurveRow(TypedDict):
    """A point of a curve, with the columns of `CURVE_COLUMNS` and the unit of y."""

    curve: str
    key: str | None
    x: float
    y: float
    low: float | None
    high: float | None
    drawn: str
    unit: str | None


class LabelledCurveRow(CurveRow):
    """A point of a curve with its position and its value as readable texts."""

    place: str
    value: str


class TradeRow(TypedDict):
    """A subject's value of a counter at a level, with the columns of `TRADE_COLUMNS`."""

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
    """A value of a knob's trade-off chart with its readable text."""

    label: str


class FieldRow(TypedDict):
    """A cell of two factors: level `down` of the factor `of`, and level `across`."""

    down: str
    of: str
    across: str
    value: float
    label: str


class RatioRow(TypedDict):
    """A ratio of two sides with the ends of its interval."""

    name: str
    ratio: float
    low: float
    high: float
    says: str
    label: str


class StepRow(TypedDict):
    """A cause's part of a difference, drawn from `begin` to `end`, in milliseconds."""

    name: str
    begin: float
    end: float
    says: str
    label: str


TableChartRow: TypeAlias = PanelRow | CurveRow | TradeRow | FieldRow | RatioRow | StepRow


class RelativeChart(TypedDict):
    """A chart of ratios to a base, made from the document's compared quantities.

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
