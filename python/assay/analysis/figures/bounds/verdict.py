"""Chart of the resource that limits a query, from runs without computation or read-ahead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.ablation.bound import bound_by
from assay.analysis.ablation.removed import removals
from assay.analysis.ceiling.trials import read_ceiling
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.host.query_reads import (
    disturbance_text,
    is_disturbed,
    middle_run,
    query_reads,
)
from assay.analysis.figures.host.roofline import NOTABLY_MORE, SEVERAL, placed_reads, placed_text
from assay.analysis.figures.subjects import briefly, subjects_of
from assay.analysis.quantities import (
    BYTES,
    COUNT,
    SECONDS,
    SHARE,
    TIMES,
    interval_text,
    spread,
    text,
)
from assay.analysis.try_.trial import gain_over
from assay.model.units import bytes_text, percent_text
from assay.record.layout import COMPUTATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.ablation.removed import Removal
    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.host.query_reads import QueryReads
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.host.roofline import Placed
    from assay.analysis.quantities import Spread
    from assay.analysis.try_.trial import Gain
    from assay.record.reader import Run

OPTIONS = {"operation": "its name; without it the one that takes longest"}
COLUMNS = (
    Column("what was changed"),
    Column("seconds", SECONDS),
    Column("of the baseline", TIMES),
    Column("at least", TIMES),
    Column("at most", TIMES),
    Column("reads", COUNT),
    Column("a read", BYTES),
)
SUBJECT = "the query"
# With this factor of more and smaller reads, the engine reads in another way.
OTHER_READS = 1.5


@dataclass(frozen=True)
class _Case:
    """One variant of the query's run, such as the baseline or the run without read-ahead.

    Attributes:
        gain: Change against the baseline of the same round; None for the baseline itself, or if not
            known.
    """

    subject: Subject
    reads: QueryReads
    gain: Gain | None


def figure(asked: Asked) -> Figure:
    """Return a chart of the resource that limits a query."""
    operation = asked.options.get("operation")
    subjects = briefly(subjects_of(asked))
    baseline = next((subject for subject in subjects if _is_plain(subject.first)), None)
    if baseline is None:
        missing = ("no run was made as it is: there is nothing to compare with",)
        return Figure(asked.name, asked.kind, asked.title, missing=missing)
    cases = [
        case for subject in subjects if (case := _case(subject, baseline, operation)) is not None
    ]
    ceiling = read_ceiling(asked.ceilings[0].run) if asked.ceilings else None
    shown = middle_run(baseline.runs, operation).run
    placed = None if ceiling is None else placed_reads(shown, ceiling, operation)
    removal = _without_computation(subjects, baseline, operation)
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=(*_verdict(removal, placed), *_latency(placed), *_read_aheads(cases)),
        subjects=(SUBJECT,),
        measures=tuple(_measures(cases, operation)),
        tables=(
            Table(
                "changes", "what each change makes of it", COLUMNS, tuple(_rows(cases, operation))
            ),
        ),
        charts=(Chart("seconds", "seconds of the query", "bars", tuple(map(_key, cases))),),
        notes=_notes(),
        missing=tuple(_missing(subjects, placed, shown, operation)),
    )


def _is_plain(run: Run) -> bool:
    request = run.facts["request"]
    return not request.get("remove") and request.get("read_ahead_bytes") is None


def _case(subject: Subject, baseline: Subject, operation: str | None) -> _Case | None:
    reads = query_reads(middle_run(subject.runs, operation).run, operation)
    if reads is None:
        return None
    before = {run.round: query_reads(run.run, operation) for run in baseline.runs}
    pairs = [
        (_seconds(before[run.round]), _seconds(query_reads(run.run, operation)))
        for run in subject.runs
        if run.round in before
    ]
    gain = gain_over(pairs) if pairs and subject is not baseline else None
    return _Case(subject, reads, gain)


def _seconds(reads: QueryReads | None) -> float | None:
    return None if reads is None else reads.seconds


def _without_computation(
    subjects: tuple[Subject, ...], baseline: Subject, operation: str | None
) -> Removal | None:
    """Return the time of the query's computation, from complete queries of the same rounds."""
    plain = {run.round: run.run for run in baseline.runs}
    for subject in subjects:
        request = subject.first.facts["request"]
        if request.get("remove") == [COMPUTATION] and request.get("read_ahead_bytes") is None:
            rounds = [(plain[run.round], run.run) for run in subject.runs if run.round in plain]
            priced = removals(rounds) if rounds else []
            return next(
                (candidate for candidate in priced if operation in (None, candidate.operation)),
                None,
            )
    return None


def _verdict(removal: Removal | None, placed: Placed | None) -> Iterator[str]:
    bound = bound_by(removal, placed)
    if bound.by is None or removal is None or removal.gain is None:
        yield f"What bounds it cannot be told: {bound.reason}."
        return
    gain = removal.gain
    sentence = (
        f"Bound by {bound.by}: without its computation the query takes"
        f" {text(gain.after_s, SECONDS)} and with it {text(gain.before_s, SECONDS)}"
        f" ({_longer(-gain.share)}{interval_text(_ends(gain), SHARE)})"
    )
    where = "" if placed is None or placed.share is None else f"; it makes {placed_text(placed)}"
    unsure = (
        "; from one round, so its certainty is unknown that is" if gain.interval is None else ""
    )
    yield f"{sentence}{where}{unsure}."
    if bound.by == "reading" and placed is not None and placed.share is not None:
        yield (
            f"The disk would give {text(1 / placed.share, TIMES)} as many reads of that size: what"
            " processors do around each read, for the query or for others, takes the rest."
        )
    if removal.verdict == "not known":
        yield f"Whether it reads the same without its computation is not known: {removal.unknown}."


def _longer(share: float) -> str:
    """Return a change of time as text: `12 % longer`, or `12 % less`."""
    return f"{percent_text(abs(share))} {'longer' if share > 0 else 'less'}"


def _ends(gain: Gain) -> tuple[float, float] | None:
    """Return the interval of the relative increase in time; None without an interval."""
    return None if gain.interval is None else (-gain.interval[1], -gain.interval[0])


def _latency(placed: Placed | None) -> Iterator[str]:
    if placed is None or placed.depth >= SEVERAL:
        return
    if (placed.more_at_once or 0.0) >= NOTABLY_MORE:
        yield (
            "It asks for one read after the other, and waits for each; of many at once the disk"
            f" gives {text(placed.more_at_once, TIMES)} as many."
        )


def _read_aheads(cases: list[_Case]) -> Iterator[str]:
    base = next((case.reads for case in cases if _is_plain(case.subject.first)), None)
    for case in cases:
        size_bytes = case.subject.first.facts["request"].get("read_ahead_bytes")
        if size_bytes is None or case.gain is None or base is None:
            continue
        name = "no read-ahead" if size_bytes == 0 else f"a read-ahead of {bytes_text(size_bytes)}"
        yield (
            f"With {name} it takes {text(case.gain.after_s, SECONDS)}"
            f" ({_longer(-case.gain.share)}{interval_text(_ends(case.gain), SHARE)})"
            f"{_other_reads(base, case.reads)}."
        )


def _other_reads(before: QueryReads, after: QueryReads) -> str:
    """Return text on the number and size of disk reads with and without read-ahead."""
    if not (before.reads and after.reads and before.mean_read_bytes and after.mean_read_bytes):
        return ""
    reads_text = f"{after.reads:,.0f} reads of {text(after.mean_read_bytes, BYTES)}"
    if after.reads >= OTHER_READS * before.reads:
        return (
            f": it makes {reads_text} instead of {before.reads:,.0f} of"
            f" {text(before.mean_read_bytes, BYTES)}, so this is no ablation of read-ahead alone"
        )
    return f": it makes {reads_text}, much as before"


def _key(case: _Case) -> str:
    return case.subject.name.replace(" ", "_")


def _measures(cases: list[_Case], operation: str | None) -> Iterator[Measure]:
    for case in cases:
        seconds = _spread(case, operation)
        if seconds is not None:
            yield Measure(_key(case), case.subject.name, SECONDS, {SUBJECT: seconds})


def _spread(case: _Case, operation: str | None) -> Spread | None:
    return spread(_seconds(query_reads(run.run, operation)) for run in case.subject.runs)


def _rows(cases: list[_Case], operation: str | None) -> Iterator[tuple[Cell, ...]]:
    for case in cases:
        gain, seconds = case.gain, _spread(case, operation)
        ends = None if gain is None else _ends(gain)
        yield (
            case.subject.name,
            None if seconds is None else seconds.middle,
            None if gain is None else 1 - gain.share,
            None if ends is None else 1 + ends[0],
            None if ends is None else 1 + ends[1],
            case.reads.reads,
            case.reads.mean_read_bytes,
        )


def _notes() -> tuple[str, ...]:
    note = (
        "Rounds are compared each in itself, because what drifts meanwhile weighs on both of its"
        " runs alike; the interval is of 95 %, and a single round has none."
    )
    return (note,)


def _missing(
    subjects: tuple[Subject, ...], placed: Placed | None, shown: Run, operation: str | None
) -> Iterator[str]:
    if is_disturbed(shown, operation):
        reason = disturbance_text(shown, operation)
        yield f"how near its reads come to what the disk gives: {reason}"
    elif placed is None:
        yield "how near its reads come to what the disk gives: one of the two was not measured"
    if all(subject.first.facts["request"].get("read_ahead_bytes") is None for subject in subjects):
        yield "what read-ahead does for it: no run was made with another one"
