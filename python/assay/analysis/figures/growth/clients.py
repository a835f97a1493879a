"""Throughput and latency by clients, the scalability law with its knee, and what limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.figures.contract import Column, Figure, Measure, Table
from assay.analysis.figures.growth.client_curves import curve_tables, fitted_charts
from assay.analysis.figures.growth.swept import TPS_KEY, Quantified, Swept
from assay.analysis.figures.metrics import summary_of
from assay.analysis.figures.quantities import (
    COUNT,
    PER_SECOND,
    SECONDS,
    SHARE,
    by_subject,
    spread,
    text,
)
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.load.summary import load_of
from assay.analysis.sweep.limit import SHORT_NAMES, limit_of
from assay.analysis.sweep.scalability import LEVELS_ENOUGH, PARAMETERS, scaling
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.analysis.figures.contract import Asked, Cell, Spread, StudyRun
    from assay.analysis.figures.subjects import Subject
    from assay.record.reader import Run

CLIENTS = "clients"
OPTIONS = {"factor": "the factor whose levels are numbers of clients; without it clients"}
# Where a level does this much less than the one before it, throughput is said to fall.
FALLS = 0.97
# A law that is off by more, as the root of the mean square, does not tell where its knee is.
OFF_MIN = 0.15


def _metric(name: str) -> Callable[[Run], float | None]:
    return lambda run: summary_of(run).metrics.get(name)


def _again(run: Run) -> float | None:
    """Attempts made again for each operation that succeeded."""
    load = summary_of(run).load
    done = None if load is None else load.all_operations
    return done.retries / done.ok if done is not None and done.ok else None


TPS = Quantified(
    TPS_KEY, "operations a second", "operations", PER_SECOND, _metric("throughput_per_s")
)
QPS = Quantified(
    "qps", "statements a second", "statements", PER_SECOND, _metric("statements_per_s")
)
P50 = Quantified("p50", "median latency", "p50", SECONDS, _metric("latency_seconds_p50"))
P99 = Quantified(
    "p99", "latency of the 99th percentile", "p99", SECONDS, _metric("latency_seconds_p99")
)
QUANTITIES = (
    TPS,
    QPS,
    P50,
    P99,
    Quantified("failed", "operations that failed", "failed", SHARE, _metric("failed_share")),
    Quantified("again", "attempts made again, an operation", "again", COUNT, _again),
    Quantified("wasted", "time in failed attempts", "wasted", SHARE, _metric("wasted_share")),
)
FAILED, AGAIN, WASTED = QUANTITIES[-3:]
DRAWN = (TPS, QPS, P50, P99, WASTED)


def figure(asked: Asked) -> Figure:
    """The figure."""
    factor = asked.options.get("factor", CLIENTS)
    swept = [_swept(one) for one in subjects_of(asked, without=(factor,))]
    swept = [one for one in swept if one.runs]
    levels = sorted({level for one in swept for level in one.runs})
    tables = (
        _table(swept),
        _rounds_table(swept),
        *_law_table(swept),
        *_limits_table(swept),
        *curve_tables(swept, levels, DRAWN),
    )
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(words for one in swept for words in _says(one)),
        subjects=tuple(one.name for one in swept),
        measures=tuple(_measures(swept, levels)),
        tables=tables,
        charts=fitted_charts(tables, DRAWN),
        notes=tuple(_notes(swept)),
        missing=tuple(_missing(asked, swept)),
    )


def clients_of(run: Run) -> int | None:
    """Sessions at work in a run; None of one that is no load."""
    load = load_of(run.facts)
    return None if load is None else load.clients


def _swept(subject: Subject) -> Swept:
    runs: dict[int, tuple[StudyRun, ...]] = {}
    for one in subject.runs:
        clients = clients_of(one.run)
        if clients is not None and TPS.of(one.run):
            runs[clients] = (*runs.get(clients, ()), one)
    fits = {}
    for what in (TPS, QPS):
        points = [(n, what.of(one.run)) for n, own in runs.items() for one in own]
        fit = scaling([(float(n), value) for n, value in points if value])
        if fit is not None:
            fits[what.key] = fit
    knee = fits[TPS.key].knee_at.value if TPS.key in fits else None
    by_clients = {n: [one.run for one in own] for n, own in sorted(runs.items())}
    return Swept(subject, dict(sorted(runs.items())), fits, limit_of(by_clients, knee))


def _measures(swept: Sequence[Swept], levels: Sequence[int]) -> Iterator[Measure]:
    for what in QUANTITIES:
        for level in levels:
            values = by_subject((one.name, one.of(what, level)) for one in swept)
            title = f"{what.title}, {_clients(level)}"
            yield Measure(f"{level} {what.key}", title, what.unit, values, at=float(level))
    for what in (TPS, QPS):
        values = by_subject((one.name, _most(one, what)) for one in swept)
        yield Measure(f"most {what.key}", f"{what.title}, at most", what.unit, values)


def _most(one: Swept, what: Quantified) -> Spread | None:
    """What is known of the number of clients at which it is most."""
    known = (one.of(what, clients) for clients in one.runs)
    return max((value for value in known if value), key=lambda value: value.middle, default=None)


def _table(swept: Sequence[Swept]) -> Table:
    shown = (TPS, QPS, P50, P99, FAILED, WASTED)
    columns = [Column("subject"), Column(CLIENTS, COUNT)]
    columns += [Column(what.head, what.unit, 3) for what in shown]
    rows = []
    for one in swept:
        for level in one.runs:
            found = [one.of(what, level) for what in shown]
            cells = [None if value is None else value.middle for value in found]
            rows.append((one.name, level, *cells))
    return Table("clients", "by clients", tuple(columns), tuple(rows))


def _rounds_table(swept: Sequence[Swept]) -> Table:
    """Operations a second over rounds, beside the law; and what a specification calls them."""
    rates = sorted({name for one in swept if (name := _rate_name(one.first))})
    columns = [Column("subject"), Column(CLIENTS, COUNT), Column("rounds", COUNT)]
    columns += [Column(name, PER_SECOND) for name in (TPS.head, "lowest", "highest", "by the law")]
    columns += [Column(AGAIN.head, COUNT, 3), *(Column(name, COUNT) for name in rates)]
    rows = []
    for one in swept:
        for level, runs in one.runs.items():
            known, again = one.of(TPS, level), one.of(AGAIN, level)
            if known is None:
                continue
            fit = one.fits.get(TPS.key)
            cells: list[Cell] = [one.name, level, known.count]
            cells += [known.middle, known.low, known.high]
            cells += [None if fit is None else fit.law.throughput(level)]
            cells += [None if again is None else again.middle]
            rows.append((*cells, *(_rate(runs, name) for name in rates)))
    return Table("rounds", "operations a second over rounds", tuple(columns), tuple(rows))


def _rate_name(run: Run) -> str | None:
    told = summary_of(run).transactions
    return None if told is None or told.rate is None else told.rate.name


def _rate(runs: Sequence[StudyRun], name: str) -> float | None:
    """What a specification calls the rate, over rounds."""
    told = [summary_of(one.run).transactions for one in runs]
    known = [one.rate for one in told if one is not None and one.rate is not None]
    found = spread(rate.value for rate in known if rate.name == name)
    return None if found is None else found.middle


LAW_COLUMNS = (
    Column("subject"),
    Column("of"),
    Column("quantity"),
    Column("value", COUNT, 3),
    Column("at least", COUNT, 3),
    Column("at most", COUNT, 3),
)


def _law_table(swept: Sequence[Swept]) -> tuple[Table, ...]:
    rows = []
    for one in swept:
        for key, fit in one.fits.items():
            told = {
                "one client, a second": fit.one,
                "contention (sigma)": fit.sigma,
                "coherence (kappa)": fit.kappa,
                "clients at the knee": fit.knee_at,
                "clients at the most": fit.most_at,
                "the most, a second": fit.most,
            }
            for name, value in told.items():
                low, high = value.ends or (None, None)
                cells = (_finite(value.value), _finite(low), _finite(high))
                rows.append((one.name, key, name, *cells))
            rows.append((one.name, key, "typical error of the fit", fit.error, None, None))
    if not rows:
        return ()
    return (Table("law", "the Universal Scalability Law", LAW_COLUMNS, tuple(rows)),)


def _limits_table(swept: Sequence[Swept]) -> tuple[Table, ...]:
    """What an operation takes its time for, with the fewest clients and with most."""
    columns = (
        Column("subject"),
        Column("cause"),
        Column("fewest clients", SECONDS),
        Column("most clients", SECONDS),
        Column("of a client's time", SHARE),
        Column("at least", SHARE),
        Column("at most", SHARE),
    )
    rows = [
        (
            one.name,
            SHORT_NAMES[cause.name],
            cause.before_s,
            cause.after_s,
            cause.share,
            *(cause.interval or (None, None)),
        )
        for one in swept
        if one.limit is not None
        for cause in one.limit.grown
    ]
    if not rows:
        return ()
    title = "what a client's time goes into, for each operation that succeeds"
    return (Table("limits", title, columns, tuple(rows)),)


def _finite(value: float | None) -> float | None:
    return value if value is not None and value != float("inf") else None


def _says(one: Swept) -> Iterator[str]:
    yield f"{one.name}: {_throughput(one)}{_knee(one)}."
    if one.limit is not None:
        yield f"{one.name}: {one.limit.words}."
    yield from _waste(one)


def _throughput(one: Swept) -> str:
    """What the fewest do, the most that was done, and what the highest number does."""
    known = {n: found.middle for n in one.runs if (found := one.of(TPS, n)) is not None}
    first, last = min(known), max(known)
    best = max(known, key=lambda n: known[n])
    words = f"{text(known[first], PER_SECOND)} with {_clients(first)}"
    if best != first:
        words += f", {text(known[best], PER_SECOND)} with {best}"
    if last != best:
        falls = known[last] < FALLS * known[best]
        words += f", {'only ' if falls else ''}{text(known[last], PER_SECOND)} with {last}"
    statements = one.of(QPS, best)
    more = "" if statements is None else f" ({text(statements.middle, PER_SECOND)} statements)"
    return f"{words}{more if best == last else ''}"


def _knee(one: Swept) -> str:
    knee, last = one.knee_at, max(one.runs)
    if knee is None:
        return ""
    if knee.value > last:
        return f"; no knee in the range, up to {_clients(last)}{_doubt(one)}"
    return f"; the knee is at {_number(knee.value)} clients{_ends(knee.ends)}{_doubt(one)}"


def _doubt(one: Swept) -> str:
    """That the law hardly holds, where it does not."""
    error = one.fits[TPS.key].error
    return f" (the law is off by {percent_text(error)})" if error >= OFF_MIN else ""


def _ends(ends: tuple[float, float] | None) -> str:
    if ends is None:
        return ""
    return f" [{_number(ends[0])}, {_number(ends[1])}]"


def _number(clients: float) -> str:
    """Such as `5.3`: parts of a client are of a line, and no more than that is known."""
    return "no end" if clients == float("inf") else f"{clients:.1f}"


def _waste(one: Swept) -> Iterator[str]:
    """How much of the work is done in vain with most clients, where it is worth a word."""
    last = max(one.runs)
    wasted, again = one.of(WASTED, last), one.of(AGAIN, last)
    if wasted is None or again is None or wasted.middle < 0.01:  # noqa: PLR2004 - a hundredth
        return
    tps, qps = (_growth(one, what) for what in (TPS, QPS))
    yield (
        f"{one.name}: with {_clients(last)} {percent_text(wasted.middle)} of their time is in"
        f" attempts that failed, {again.middle:.2g} an operation that succeeded; from"
        f" {_clients(min(one.runs))} on operations a second grow to {tps:.2g} times and statements"
        f" to {qps:.2g} times."
    )


def _growth(one: Swept, what: Quantified) -> float:
    first, last = one.of(what, min(one.runs)), one.of(what, max(one.runs))
    return last.middle / first.middle if first and last and first.middle else 1.0


def _clients(count: int) -> str:
    return f"{count} client{'' if count == 1 else 's'}"


def _notes(swept: Sequence[Swept]) -> Iterator[str]:
    if any(one.fits for one in swept):
        yield (
            "The line is the Universal Scalability Law, X(N) = lambda N / (1 + sigma (N - 1) +"
            " kappa N (N - 1)), by least squares of relative errors over all runs; intervals are of"
            " 95 %, by profile likelihood. The knee is where throughput over the time that a client"
            " waits (Kleinrock's power) is greatest: from there on 1 % more clients bring less than"
            " 0.5 % more throughput."
        )
    yield (
        "Statements are those of operations that succeeded and of attempts that failed and were"
        " made again, as far as these were noted."
    )
    for one in swept:
        fit = one.fits.get(TPS.key)
        if fit is not None and fit.levels < LEVELS_ENOUGH:
            yield (
                f"{one.name}: {fit.levels} numbers of clients are few for a law of {PARAMETERS}"
                f" parameters: {LEVELS_ENOUGH} or more tell whether it holds."
            )
        if fit is not None and fit.most_at.value == float("inf"):
            yield f"{one.name}: nothing says that more clients would do less (kappa is 0)."


def _missing(asked: Asked, swept: Sequence[Swept]) -> Iterator[str]:
    for made in asked.runs:
        if clients_of(made.run) is None:
            yield f"run {made.run.id} is no load of clients"
    for one in swept:
        if TPS.key not in one.fits:
            yield (
                f"{one.name}: the law of {len(one.runs)} numbers of clients; it takes at least"
                f" {PARAMETERS}"
            )
        if one.limit is None:
            yield f"{one.name}: what limits it takes two numbers of clients that can be compared"
