"""Rows that charts of a study draw; Vega-Lite has them as they are, with their keys as fields."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class MeasureRow(TypedDict):
    """A subject's value of a measure, or its share of a table's column.

    `at` is its place on a numeric axis, `low` and `high` are the spread over rounds.
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


class PanelRow(TypedDict):
    """A value of a panel: of the column `what`, the `place`-th that is drawn, at `x`."""

    panel: str
    x: float
    what: str
    place: int
    value: float


class CurveRow(TypedDict):
    """A point of a curve: `CURVE_COLUMNS`, and the unit of y."""

    curve: str
    key: str | None
    x: float
    y: float
    low: float | None
    high: float | None
    drawn: str
    unit: str | None


class TradeRow(TypedDict):
    """A subject's value of a counter at a level: `TRADE_COLUMNS`."""

    panel: str
    counter: str
    unit: str
    subject: str
    level: str
    value: float
    low: float | None
    high: float | None
    drawn: str


class FieldRow(TypedDict):
    """A field of two factors: the level `down` of the factor `of`, and the level `across`."""

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
    """A cause's part of a difference: from `begin` to `end`, in milliseconds."""

    name: str
    begin: float
    end: float
    says: str
    label: str


TableChartRow = PanelRow | CurveRow | TradeRow | FieldRow | RatioRow | StepRow
