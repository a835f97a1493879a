"""Sentences that summarise a comparison of two engines, versions or settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.compare.causes import (
    COLUMNS,
    FOR_A_CPU,
    NOT_EXPLAINED,
    PLAN,
    PLANNING,
    READS,
)
from assay.analysis.compare.ratios import THROUGHPUT, WHOLE, by_chance
from assay.analysis.figures.compare.compare_tables import is_noise, statement_label, whole_of
from assay.analysis.profile.statement_work import is_sampled
from assay.analysis.quantities import SECONDS, SHARE, TIMES, interval_text, listed, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.analysis.compare.gain import GainRow, SplitGain
    from assay.analysis.compare.ratios import Ratio
    from assay.analysis.compare.sides import TwoSides

# Causes with a smaller share of the difference are only in the table.
SHARE_MIN = 0.03
# If the difference is within noise, its parts are named from this share of the first side's time
# on.
PART_MIN = 0.01
# If waits for a CPU differ by this share of the first side's time, the host disturbed the
# comparison.
DISTURBED_MIN = 0.03
CAUSES_MAX = 5
STATEMENTS_MAX = 3
# Causes that are named together with their statements.
OF_STATEMENTS = (PLAN, COLUMNS, READS)


def says_of(comparison: TwoSides, names: Sequence[str]) -> Iterator[str]:
    """Yield sentences on the comparison of two systems, the most important first."""
    whole = _ratio(comparison, WHOLE)
    if whole is None or comparison.gain is None:
        yield "One of the sides succeeded in nothing, so there is nothing to compare."
        return
    yield _whole_ratio(comparison, names, whole)
    if is_noise(comparison):
        yield _within_noise(comparison.gain)
    else:
        yield _explained(comparison.gain)
        yield from _statement_shares(comparison.gain)
    yield from _disturbed(comparison.gain)
    yield from _changed_plans(comparison, names)
    yield from _planning(comparison, names)
    yield from _tails(comparison, names)
    yield _chance(comparison)


def _ratio(comparison: TwoSides, what: str) -> Ratio | None:
    return next((ratio for ratio in comparison.ratios if ratio.what == what), None)


def _whole_ratio(comparison: TwoSides, names: Sequence[str], whole: Ratio) -> str:
    unit = whole_of(comparison.gain)
    times = f"{text(whole.second, SECONDS)} instead of {text(whole.first, SECONDS)}"
    ratio = _ratio(comparison, THROUGHPUT) or whole
    is_rate = ratio.what == THROUGHPUT
    of = "the transactions a second" if is_rate else "the time of a pass"
    ratio_text = f"{text(ratio.ratio, TIMES)}{interval_text(ratio.interval, TIMES)} {of}"
    if whole.differs is False:
        return (
            f"No difference beyond noise: {names[1]} has {ratio_text} of {names[0]};"
            f" {unit} takes {times}."
        )
    unsure = "" if whole.interval else " From one round, so its certainty is unknown."
    return f"{names[1]} has {ratio_text} of {names[0]}: {unit} takes {times}.{unsure}"


def _explained(gain: SplitGain) -> str:
    """Return a sentence with the share of the time difference that each cause explains."""
    total = gain.total.value
    way = "more" if total > 0 else "less"
    lead = f"Of the {text(abs(total), SECONDS)} {way}"
    explained = [
        f"{_cause(gain, row)} {text(row.seconds.value / total, SHARE)}"
        for row in gain.by_cause
        if not row.is_noise
        and row.key[0] != NOT_EXPLAINED
        and abs(row.seconds.value / total) >= SHARE_MIN
    ]
    rest = next((row for row in gain.by_cause if row.key[0] == NOT_EXPLAINED), None)
    share = 0.0 if rest is None else rest.seconds.value / total
    left = f"{text(share, SHARE)} is not explained"
    if not explained:
        return f"{lead} no cause is beyond noise; {left}."
    return f"{lead}, these explain: {listed(explained, CAUSES_MAX)}; {left}."


def _within_noise(gain: SplitGain) -> str:
    """Return a sentence on a time difference within noise, and on causes beyond noise."""
    parts = [
        f"{_cause(gain, row)} {text(abs(row.seconds.value), SECONDS)}"
        f" {'more' if row.seconds.value > 0 else 'less'}"
        for row in gain.by_cause
        if row.is_noise is False
        and row.key[0] != NOT_EXPLAINED
        and abs(row.seconds.value) >= PART_MIN * gain.first_s
    ]
    if parts:
        return (
            "Nothing is a share of a difference that may be none; of its parts these differ by"
            f" their intervals: {listed(parts, CAUSES_MAX)}."
        )
    return "Nothing is explained, because the difference is no more than noise, in its parts, too."


def _cause(gain: SplitGain, row: GainRow) -> str:
    """Return the name of a cause of the time difference, with its main statements if any."""
    (cause,) = row.key
    if cause not in OF_STATEMENTS:
        return str(cause)
    own = [part for part in gain.by_both if part.key[2] == cause]
    named = [part for part in own if not part.is_noise] or own[:1]
    names = [statement_label(*part.key[:2]) for part in named]
    return f"{cause} of {listed(names, STATEMENTS_MAX)}"


def _statement_shares(gain: SplitGain) -> Iterator[str]:
    """Yield sentences on the statements that contribute most to the time difference."""
    total = gain.total.value
    shares = [
        f"{statement_label(*row.key)} {text(row.seconds.value / total, SHARE)}"
        for row in gain.by_statement
        if row.seconds.value / total >= SHARE_MIN and not row.is_noise
    ]
    if shares:
        yield f"It is made by {listed(shares)}."


def _disturbed(gain: SplitGain) -> Iterator[str]:
    """Yield a sentence on the time difference without waits for a CPU, if it differs much."""
    queued = next((row for row in gain.by_cause if row.key == (FOR_A_CPU,)), None)
    if queued is None or abs(queued.seconds.value) < DISTURBED_MIN * gain.first_s:
        return
    left = gain.undisturbed
    yield (
        f"{FOR_A_CPU[0].upper()}{FOR_A_CPU[1:]} is time in which something else had it: on a host"
        " that does nothing else it is hardly any. Without it"
        f" {whole_of(gain)} takes {text(abs(left.value), SECONDS)}"
        f" {'more' if left.value > 0 else 'less'}{interval_text(left.interval, SECONDS)}."
    )


def _changed_plans(comparison: TwoSides, names: Sequence[str]) -> Iterator[str]:
    planned = {
        key: evidence for key, evidence in comparison.evidence.items() if evidence.plans is not None
    }
    if not planned:
        yield "Plans are not compared: no statement has one on both sides."
        return
    changed = {key: evidence for key, evidence in planned.items() if evidence.plan_words}
    if not changed:
        yield f"None of {len(planned)} plans differs."
        return
    changes = [
        f"{statement_label(*key)}: {evidence.plan_words[0]}" for key, evidence in changed.items()
    ]
    yield (
        f"{names[1]} has another plan of {len(changed)} of {len(planned)} statements:"
        f" {'; '.join(changes[:STATEMENTS_MAX])}{'; ...' if len(changes) > STATEMENTS_MAX else ''}."
    )


def _planning(comparison: TwoSides, names: Sequence[str]) -> Iterator[str]:
    """Yield a sentence on the statement whose planning time differs most beyond noise."""
    for difference in comparison.planning:
        operation, statement, step = difference.key
        ends = difference.seconds.interval
        if step is not None or ends is None or ends[0] <= 0.0 <= ends[1]:
            continue
        if not is_sampled(difference.samples):
            continue
        yield (
            f"The optimiser's time differs most in {statement_label(operation, statement)}:"
            f" {text(difference.second_s, SECONDS)} of an execution with {names[1]},"
            f" {text(difference.first_s, SECONDS)} with {names[0]} ({difference.samples} samples)."
        )
        return


def _tails(comparison: TwoSides, names: Sequence[str]) -> Iterator[str]:
    for tail in comparison.tails:
        if tail.first is None or tail.second is None:
            continue
        if tail.first.statement != tail.second.statement:
            yield (
                f"The tail of {tail.operation} is made by {tail.second.statement} with {names[1]},"
                f" and by {tail.first.statement} with {names[0]}."
            )


def _chance(comparison: TwoSides) -> str:
    compared = [ratio for ratio in comparison.ratios if ratio.interval is not None]
    if not compared:
        return "A single round has no interval: repeat it to know what is noise."
    differ = sum(bool(ratio.differs) for ratio in compared)
    return (
        f"{differ} of {len(compared)} quantities differ by their intervals of 95 %;"
        f" {by_chance(compared):.0f} would seem to if none did."
    )


def notes_of(comparison: TwoSides, rounds: int) -> Iterator[str]:
    """Yield notes on the method of comparing two systems."""
    yield (
        f"{rounds} rounds, each compared in itself, because its runs stood side by side; intervals"
        " are of 95 %, of log ratios and of differences, by Student's t."
    )
    if comparison.gain is not None:
        yield (
            "What a transaction takes is split by statements exactly, and each statement's"
            f" difference is put down in this order: {PLANNING} (CPU samples); then, where the"
            " plan differs, all of its execution to the plan, else to columns or rows that are"
            " read, else to CPU time by kind of work and to waits. Rows sum to the whole"
            " difference."
        )
