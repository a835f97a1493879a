"""Computes how often predictions of advice came true, from earlier trials."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Verdicts of trials that saved time, but not as much as predicted.
SAVED = ("smaller", "larger")


@dataclass(frozen=True)
class Record:
    """The outcomes of a set of predicted savings: how many were tried and came true.

    Attributes:
        tried: Number of predictions that were tried.
        decided: Number of predictions with a known outcome.
        hits: Number of predictions that came true.
        saved: Number of decided trials that saved time, as much as predicted or not.
        ratio_median: Median of measured gain / predicted gain; None without predicted gains.
    """

    tried: int
    decided: int
    hits: int
    saved: int
    ratio_median: float | None

    @property
    def hit_rate(self) -> float | None:
        """The share of decided predictions that came true; None without any."""
        return self.hits / self.decided if self.decided else None

    def facts(self) -> dict[str, Any]:
        """Return the outcomes of predictions as JSON values."""
        return {
            "tried": self.tried,
            "decided": self.decided,
            "hits": self.hits,
            "hit_rate": self.hit_rate,
            "saved": self.saved,
            "ratio_median": self.ratio_median,
        }


@dataclass(frozen=True)
class Calibration:
    """The outcomes of all predicted savings, in total and by method of finding."""

    whole: Record
    methods: Mapping[str, Record]

    def facts(self) -> dict[str, Any]:
        """Return the outcomes of predictions, in total and by method, as JSON values."""
        by_method = {method: record.facts() for method, record in self.methods.items()}
        return self.whole.facts() | {"methods": by_method}

    def sentence(self, method: str) -> str | None:
        """Return a sentence on how often a method's advice saved time; None without outcomes."""
        record = self.methods.get(method)
        if record is None or not record.decided:
            return None
        trials = "trial" if record.decided == 1 else "trials"
        return f"advice of this kind saved time in {record.saved} of {record.decided} {trials}"


def calibrate(predictions: Sequence[Mapping[str, Any]]) -> Calibration:
    """Return the outcomes of the predictions stored in `predictions.jsonl`."""
    rows = [row for row in predictions if isinstance(row.get("method"), str)]
    methods: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        methods.setdefault(row["method"], []).append(row)
    most_first = sorted(methods, key=lambda method: (-len(methods[method]), method))
    return Calibration(_record(rows), {method: _record(methods[method]) for method in most_first})


def _record(rows: Sequence[Mapping[str, Any]]) -> Record:
    decided = [row for row in rows if isinstance(row.get("hit"), bool)]
    hits = sum(row["hit"] for row in decided)
    saved = sum(row["hit"] or row.get("verdict") in SAVED for row in decided)
    ratios = [row["measured"] / row["predicted"] for row in rows if _has_ratio(row)]
    return Record(len(rows), len(decided), hits, saved, median(ratios) if ratios else None)


def _has_ratio(row: Mapping[str, Any]) -> bool:
    numbers = row.get("measured"), row.get("predicted")
    return all(isinstance(number, int | float) for number in numbers) and row["predicted"] > 0
