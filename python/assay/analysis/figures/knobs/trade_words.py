"""Sentences that summarise the effect of an engine setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.quantities import SECONDS, TIMES, interval_text, listed, text
from assay.analysis.tune.knob_effect import in_sentence
from assay.analysis.tune.trade import STEADY_MAX
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.analysis.metrics import Metric
    from assay.analysis.tune.knob_effect import Moved
    from assay.analysis.tune.trade import Level, Trade

SIDES_MAX = 2
# A first execution this many times as long is reported as the cost of allocating memory.
LONGER_MIN = 1.1


def says_of(name: str, trade: Trade, factor: str, metric: Metric) -> Iterator[str]:
    """Yield sentences on a setting's effect; a sentence that it had none comes first."""
    short = factor.removeprefix("set.")
    effect = _effect(name, trade, short)
    if trade.effect.took is False:
        yield effect
    yield _best(name, trade, short, metric)
    if trade.effect.took is not False:
        yield effect
    if sides := _sides(name, trade):
        yield sides
    yield from _read_back(name, trade, short)
    yield from _first(name, trade)
    yield from _variability(name, trade)
    yield from _model(name, trade)


def _effect(name: str, trade: Trade, short: str) -> str:
    effect = trade.effect
    if effect.took is False:
        return f"{name}: {short}: no effect: {effect.why}."
    if effect.took:
        return f"{name}: {short} took effect: {effect.why}."
    return f"{name}: not known whether {short} took effect: {effect.why}."


def _best(name: str, trade: Trade, short: str, metric: Metric) -> str:
    by_name = {level.name: level for level in trade.levels}
    best = by_name[trade.best]
    figure_text = text(best.response.value, metric.unit)
    figure_text += interval_text(best.response.interval, metric.unit)
    if not trade.beside:
        return f"{name}: of {short} only {trade.best} has a figure, {figure_text}."
    distinct = [
        comparison
        for comparison in trade.beside
        if comparison.factor is not None and comparison.factor.is_distinct
    ]
    same = [
        comparison.level
        for comparison in trade.beside
        if comparison.factor is None or not comparison.factor.is_distinct
    ]
    alone = all(
        comparison.factor is None or comparison.factor.interval is None
        for comparison in trade.beside
    )
    sentence = f"{name}: {metric.title}: {short} {trade.best} is best, {figure_text}"
    if alone:
        return f"{sentence}; one run a level, so the others may be noise."
    much = "as long" if metric.unit == SECONDS else "as much"
    parts = [
        f"{comparison.level} takes {text(comparison.factor.times, TIMES)} {much}"
        f"{interval_text(comparison.factor.interval, TIMES)}"
        for comparison in distinct
        if comparison.factor is not None
    ]
    if metric.unit != SECONDS:
        parts = [part.replace(" takes ", " has ") for part in parts]
    if same:
        parts.append(f"{listed(same)} {'does' if len(same) == 1 else 'do'} not differ from it")
    if not distinct:
        return f"{sentence}, but no other level differs from it beyond what runs alike differ by."
    return f"{sentence}; {'; '.join(parts)}."


def _sides(name: str, trade: Trade) -> str:
    """Return a sentence on the counters of a setting's trade-off, from first to last level."""
    parts = []
    for side, counters in (("scheduling", trade.scheduling), ("blocking", trade.blocking)):
        moves = [move for counter in counters if (move := _move_text(counter, trade.levels))][
            :SIDES_MAX
        ]
        if moves or any(counter.values for counter in counters):
            parts.append(f"{side}: {listed(moves) if moves else 'none at any level'}")
    if not parts:
        return ""
    ends = f"{trade.levels[0].name} to {trade.levels[-1].name}"
    whose = " (by the kernel's meters)" if trade.sides_of == "kernel" else ""
    return f"{name}: both sides from {ends}, one execution{whose}: {'; '.join(parts)}."


def _move_text(counter: Moved, levels: tuple[Level, ...]) -> str:
    means = [counter.means[level.name] for level in levels if level.name in counter.means]
    if len(means) < len(levels) or len(means) < 2 or not any(means):  # noqa: PLR2004 - from and to
        return ""
    title = in_sentence(counter.title)
    shown = " to ".join(text(mean, counter.unit) for mean in (means[0], means[-1]))
    most = max(means)
    if most > max(means[0], means[-1]) * LONGER_MIN:
        shown += f", at most {text(most, counter.unit)}"
    return f"{title} {shown}" if counter.moved else f"{title} {shown}, not beyond noise"


def _read_back(name: str, trade: Trade, short: str) -> Iterator[str]:
    """Yield a sentence on levels at which the engine did not take the requested value."""
    wrong = [reading for reading in trade.effect.read_back if reading.is_asked is False]
    if wrong:
        differences = listed(
            [f"{reading.effective} in force for {reading.asked}" for reading in wrong]
        )
        yield f"{name}: {short} was not as asked at {len(wrong)} of its levels: {differences}."


def _first(name: str, trade: Trade) -> Iterator[str]:
    """Yield a sentence on the slowest first execution compared with later ones."""
    penalties = [
        (level.first.first_s.value / level.first.later_s.value, level, level.first)
        for level in trade.levels
        if level.first is not None and level.first.later_s.value
    ]
    if not penalties:
        return
    times, level, first = max(penalties, key=lambda penalty: penalty[0])
    if times < LONGER_MIN:
        yield f"{name}: first executions take no longer than later ones at any level."
        return
    sentence = (
        f"{name}: the first execution, in no interval, takes up to {text(times, TIMES)} as long as"
        f" later ones: {text(first.first_s.value, SECONDS)} and"
        f" {text(first.later_s.value, SECONDS)} at {level.name}"
    )
    if first.first_faults is not None and first.later_faults is not None:
        sentence += (
            f", with {first.first_faults:,.0f} minor page faults against {first.later_faults:,.0f}"
        )
    yield f"{sentence}."


def _variability(name: str, trade: Trade) -> Iterator[str]:
    varying = [level for level in trade.levels if level.variability is not None]
    if not varying:
        return
    most = max(varying, key=lambda level: level.variability.share if level.variability else 0.0)
    differ = most.variability
    if differ is None:
        return
    sentence = f"{name}: executions of one run differ by {percent_text(differ.share)}"
    if differ.share < STEADY_MAX:
        yield f"{sentence} at most ({most.name}): under {percent_text(STEADY_MAX)}."
    else:
        yield (
            f"{sentence} at {most.name}, and not under {percent_text(STEADY_MAX)}: {differ.reason}."
        )


def _model(name: str, trade: Trade) -> Iterator[str]:
    """Yield a sentence that compares counted and predicted messages at the setting's best level."""
    best = next(level for level in trade.levels if level.name == trade.best)
    counts = [
        f"{message.title} {text(message.counted, message.unit)} for"
        f" {text(message.predicted, message.unit)}"
        for message in best.messages
        if message.ratio is not None and message.name != "bytes a message"
    ]
    if counts:
        phrase = listed(counts)
        yield f"{name}: counted for what the message model has on paper, at {best.name}: {phrase}."


def notes_of(trades: Mapping[str, Trade]) -> Iterator[str]:
    """Yield notes on the method of varying an engine setting."""
    if not trades:
        return
    rounds = max(len(level.rounds) for trade in trades.values() for level in trade.levels)
    if rounds > 1:
        yield (
            f"Means over {rounds} rounds in turns, geometric, intervals of 95 % by Student's t;"
            " levels are compared round by round, by their ratios. A run's own figure is the median"
            " of its executions after the first."
        )
    yield (
        "A counter moved if an analysis of variance over rounds gives chance less than 5 %, all"
        " counters of a knob together, and by more than 1 %."
    )


def missing_of(
    made: Mapping[str, Trade | None], levels: list[str], factor: str, metric: Metric
) -> Iterator[str]:
    """Yield sentences on values of a setting's trade-off that are missing, with the reason."""
    short = factor.removeprefix("set.")
    if len(levels) == 1:
        yield f"of {short} only {levels[0]} was run: nothing to compare with"
    for name, trade in made.items():
        has = () if trade is None else tuple(level.name for level in trade.levels)
        for level in levels:
            if level not in has:
                yield (
                    f"{name} at {level} has no {metric.title}: it was not run, or operations failed"
                )
        for side in ("scheduling", "blocking"):
            for counter in () if trade is None else getattr(trade, side):
                if not counter.values:
                    yield f"{name}: {side}: {counter.title}: not measured: {counter.why_not}"
        if trade is not None and all(level.first is None for level in trade.levels):
            yield (
                f"{name} has no first execution apart: there is one of an order that begins with an"
                " untimed pass"
            )
