"""Table of the time that each query part costs, from runs without that part."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.ablation.removed import Removal, removals
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.subjects import subject_name
from assay.analysis.quantities import SECONDS, SHARE, Spread, listed, text
from assay.model.units import percent_text, seconds_text
from assay.record.layout import COMPUTATION

if TYPE_CHECKING:
    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.study_runs import StudyRun

OPTIONS = {"operations": "names of those that are shown; without it all"}
COLUMNS = (
    Column("operation"),
    Column("subject"),
    Column("without"),
    Column("what that is"),
    Column("as it was", SECONDS),
    Column("without it", SECONDS),
    Column("price", SECONDS),
    Column("share", SHARE),
    Column("at least", SHARE),
    Column("at most", SHARE),
    Column("reading"),
)
REMOVED = "remove"
# Keys of the request in which compared runs may differ.
MAY_DIFFER = (REMOVED, "plans")
DIFFERENCES_NAMED = 2


@dataclass(frozen=True)
class _Priced:
    """The measured time of the removable parts of the queries of one engine or setting."""

    subject: str
    removal: Removal


def figure(asked: Asked) -> Figure:
    """Return a table of the time that each query part costs."""
    priced: list[_Priced] = []
    missing: dict[str, None] = {}
    for group in _groups(asked):
        priced += _priced(group, missing)
    wanted = asked.options.get("operations")
    shown = [part for part in priced if wanted is None or part.removal.operation in wanted]
    missing |= dict.fromkeys(sentence for part in shown if (sentence := _failure(part)))
    measures = tuple(_measures(shown))
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(shown)),
        subjects=tuple(dict.fromkeys(part.subject for part in shown)),
        measures=measures,
        tables=(Table("parts", "what each part costs", COLUMNS, tuple(map(_row, shown))),),
        charts=(_chart(measures),) if measures else (),
        notes=_notes(shown),
        missing=tuple(missing),
    )


def _groups(asked: Asked) -> list[list[StudyRun]]:
    """Return runs in groups whose requests are equal except for the removed query part."""
    groups: dict[str, list[StudyRun]] = {}
    for run in asked.runs:
        request = run.run.facts["request"]
        alike = {key: value for key, value in request.items() if key not in MAY_DIFFER}
        groups.setdefault(json.dumps(alike, sort_keys=True, default=str), []).append(run)
    return list(groups.values())


def _priced(group: list[StudyRun], missing: dict[str, None]) -> list[_Priced]:
    by_parts: dict[tuple[str, ...], dict[int, StudyRun]] = {}
    for run in group:
        parts = tuple(run.run.facts["request"].get(REMOVED) or ())
        by_parts.setdefault(parts, {})[run.round] = run
    plain = by_parts.pop((), {})
    subject = _subject(group)
    if not by_parts:
        missing[f"{subject}: no run lacks a part, so nothing is priced"] = None
        return []
    priced = []
    for parts, runs in by_parts.items():
        rounds = [(plain[number].run, run.run) for number, run in runs.items() if number in plain]
        if rounds:
            priced += [_Priced(subject, removal) for removal in removals(rounds)]
        else:
            phrase = f"{subject} without {', '.join(parts)}: no run as it was beside it"
            missing[phrase] = None
    return priced


def _subject(group: list[StudyRun]) -> str:
    """Return the name of a group of runs from the factor levels that all its runs share."""
    first = group[0]
    same = [
        (factor, name)
        for factor, name in first.levels.items()
        if all(run.levels.get(factor) == name for run in group)
    ]
    return subject_name(same, first.run)


def _measures(priced: list[_Priced]) -> Iterator[Measure]:
    values: dict[str, dict[str, Spread]] = {}
    for part in priced:
        gain = part.removal.gain
        if gain is None or part.removal.verdict in {"failed", "not known"}:
            continue
        low, high = gain.interval or (gain.share, gain.share)
        values.setdefault(_key(part.removal), {})[part.subject] = Spread(gain.share, low, high)
    yield from (Measure(key, key, SHARE, spreads) for key, spreads in values.items())


def _key(removal: Removal) -> str:
    return f"{removal.operation} {'+'.join(removal.parts)}"


def _chart(measures: tuple[Measure, ...]) -> Chart:
    keys = tuple(measure.key for measure in measures)
    return Chart("parts", "share of the time that goes with it", "bars", keys)


def _row(part: _Priced) -> tuple[Cell, ...]:
    removal = part.removal
    gain = removal.gain
    low, high = (gain.interval if gain else None) or (None, None)
    return (
        removal.operation,
        part.subject,
        ", ".join(removal.parts),
        removal.description,
        None if gain is None else gain.before_s,
        None if gain is None else gain.after_s,
        None if gain is None else gain.before_s - gain.after_s,
        None if gain is None else gain.share,
        low,
        high,
        _reading(removal),
    )


def _reading(removal: Removal) -> str:
    if removal.differs:
        return _named_differences(removal.differs)
    return removal.unknown or "the same"


def _named_differences(differs: tuple[str, ...]) -> str:
    shown = "; ".join(differs[:DIFFERENCES_NAMED])
    more = len(differs) - DIFFERENCES_NAMED
    return f"{shown}; {more} more" if more > 0 else shown


def _says(priced: list[_Priced]) -> Iterator[str]:
    """Yield sentences on query parts: the cost of computation, then the most expensive others."""
    whole = [
        part for part in priced if part.removal.verdict == "reads the same" and part.removal.gain
    ]
    if len(whole) > 1:
        yield _in_all(whole)
    yield from (_whole_text(part) for part in sorted(whole, key=_saved, reverse=True))
    parts = [part for part in priced if part.removal.verdict == "priced" and part.removal.gain]
    by_operation: dict[tuple[str, str], list[_Priced]] = {}
    for part in parts:
        by_operation.setdefault((part.subject, part.removal.operation), []).append(part)
    for (subject, operation), query_parts in by_operation.items():
        dearest = max(query_parts, key=_saved)
        among = f"of {len(query_parts)} parts " if len(query_parts) > 1 else ""
        yield (
            f"{subject}, {operation}: {among}{', '.join(dearest.removal.parts)} is worth most;"
            f" {_share_text(dearest.removal)}."
        )


def _in_all(whole: list[_Priced]) -> str:
    """Return one sentence about the cost of computation in all queries together."""
    dearest = max(whole, key=_saved)
    sure = [part for part in whole if _is_sure(part.removal)]
    return (
        f"Computation is worth most in {dearest.removal.operation} of {dearest.subject}:"
        f" {_share_text(dearest.removal)}. Of {len(whole)} that read the same without it,"
        f" {len(sure)} are surely faster."
    )


def _is_sure(removal: Removal) -> bool:
    gain = removal.gain
    return gain is not None and gain.interval is not None and gain.interval[0] > 0


def _whole_text(part: _Priced) -> str:
    gain = part.removal.gain
    assert gain is not None  # noqa: S101 - only of those that have one
    return (
        f"{part.subject}, {part.removal.operation}: it takes {seconds_text(gain.before_s)}, and"
        f" {seconds_text(gain.after_s)} without its computation, which reads the same;"
        f" {_share_text(part.removal)}{_stays_text(part.removal)}."
    )


def _saved(part: _Priced) -> float:
    return part.removal.gain.share if part.removal.gain else 0.0


def _share_text(removal: Removal) -> str:
    gain = removal.gain
    if gain is None:
        return "its price is not known"
    if gain.interval is None:
        return f"{text(gain.share, SHARE)} go with it, from one round, so its certainty is unknown"
    low, high = gain.interval
    if low <= 0 <= high:
        return f"its cost is not beyond noise ({_between(low, high)})"
    if high < 0:
        return f"it takes {percent_text(-gain.share)} longer without it ({_between(low, high)})"
    return f"{percent_text(gain.share)} of the time go with it ({_between(low, high)})"


def _between(low: float, high: float) -> str:
    return f"{text(low, SHARE)} to {text(high, SHARE)}"


def _stays_text(removal: Removal) -> str:
    if not removal.stays:
        return ""
    return f", though {listed(list(removal.stays))} stayed, by which rows are chosen"


def _failure(part: _Priced) -> str | None:
    removal = part.removal
    where = f"{part.subject}, {removal.operation} without {', '.join(removal.parts)}"
    if removal.gain is None:
        return f"{where}: not all its runs have a time of it"
    if removal.verdict == "failed":
        return (
            f"{where}: it reads other data, so this is no price:"
            f" {_named_differences(removal.differs)}"
        )
    if removal.verdict == "not known":
        return f"{where}: whether it reads the same is not known: {removal.unknown}"
    return None


def _notes(priced: list[_Priced]) -> tuple[str, ...]:
    notes = ["Each part was removed by rewriting the query; rounds are compared each in itself."]
    if any(part.removal.parts == (COMPUTATION,) for part in priced):
        notes.append(
            "Without its computation a query still decodes each column that it needed, and chooses"
            " the same rows by the same tables, joins and conditions."
        )
    if any(part.removal.verdict == "priced" and part.removal.differs for part in priced):
        notes.append("What is read less or otherwise without a part is in its price.")
    return tuple(notes)
