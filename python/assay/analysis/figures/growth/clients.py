"""Charts of throughput and latency by number of clients, with the fitted scalability law."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.figures.contract import Column, Figure, Measure, Table
from assay.analysis.figures.growth.client_curves import curve_tables, fitted_charts
from assay.analysis.figures.growth.swept import TPS_KEY, Quantified, Swept
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.load_plan import load_of
from assay.analysis.metrics import summary_of
from assay.analysis.quantities import COUNT, PER_SECOND, SECONDS, SHARE, by_subject, spread, text
from assay.analysis.sweep.limit import SHORT_NAMES, limit_of
from assay.analysis.sweep.scalability import LEVELS_ENOUGH, PARAMETERS, scaling
from assay.model.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.quantities import Spread
    from assay.analysis.study_runs import StudyRun
    from assay.record.reader import Run

CLIENTS = "clients"
OPTIONS = {"factor": "the factor whose levels are numbers of clients; without it clients"}
# Throughput counts as falling if it is below this share of the previous level's.
FALLS = 0.97
# A law with a larger relative error (root mean square) does not locate the knee.
OFF_MIN = 0.15


def _metric(name: str) -> Callable[[Run], float | None]:
    return lambda run: summary_of(run).metrics.get(name)


def _retries_each(run: Run) -> float | None:
    """Return the number of retries per successful operation; None if none succeeded."""
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
    Quantified("again", "attempts made again, an operation", "again", COUNT, _retries_each),
    Quantified("wasted", "time in failed attempts", "wasted", SHARE, _metric("wasted_share")),
)
FAILED, AGAIN, WASTED = QUANTITIES[-3:]
DRAWN = (TPS, QPS, P50, P99, WASTED)


def figure(asked: Asked) -> Figure:
    """Return charts of throughput and latency by number of clients."""
    factor = asked.options.get("factor", CLIENTS)
    swept = [_swept(subject) for subject in subjects_of(asked, without=(factor,))]
    swept = [sweep for sweep in swept if sweep.runs]
    levels = sorted({level for sweep in swept for level in sweep.runs})
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
        says=tuple(sentence for sweep in swept for sentence in _says(sweep)),
        subjects=tuple(sweep.name for sweep in swept),
        measures=tuple(_measures(swept, levels)),
        tables=tables,
        charts=fitted_charts(tables, DRAWN),
        notes=tuple(_notes(swept)),
        missing=tuple(_missing(asked, swept)),
    )


def clients_of(run: Run) -> int | None:
    """Return the number of concurrent sessions of a run; None for a run without a load."""
    load = load_of(run.facts)
    return None if load is None else load.clients


def _swept(subject: Subject) -> Swept:
    runs: dict[int, tuple[StudyRun, ...]] = {}
    for run in subject.runs:
        clients = clients_of(run.run)
        if clients is not None and TPS.of(run.run):
            runs[clients] = (*runs.get(clients, ()), run)
    fits = {}
    for what in (TPS, QPS):
        points = [(n, what.of(run.run)) for n, own in runs.items() for run in own]
        fit = scaling([(float(n), value) for n, value in points if value])
        if fit is not None:
            fits[what.key] = fit
    knee = fits[TPS.key].knee_at.value if TPS.key in fits else None
    by_clients = {n: [run.run for run in own] for n, own in sorted(runs.items())}
    return Swept(subject, dict(sorted(runs.items())), fits, limit_of(by_clients, knee))


def _measures(swept: Sequence[Swept], levels: Sequence[int]) -> Iterator[Measure]:
    for what in QUANTITIES:
        for level in levels:
            values = by_subject((sweep.name, sweep.of(what, level)) for sweep in swept)
            title = f"{what.title}, {_clients(level)}"
            yield Measure(f"{level} {what.key}", title, what.unit, values, at=float(level))
    for what in (TPS, QPS):
        values = by_subject((sweep.name, _peak(sweep, what)) for sweep in swept)
        yield Measure(f"most {what.key}", f"{what.title}, at most", what.unit, values)


def _peak(sweep: Swept, what: Quantified) -> Spread | None:
    """Return the largest value over all numbers of clients; None without a value."""
    spreads = (sweep.of(what, clients) for clients in sweep.runs)
    return max((value for value in spreads if value), key=lambda value: value.middle, default=None)


def _table(swept: Sequence[Swept]) -> Table:
    shown = (TPS, QPS, P50, P99, FAILED, WASTED)
    columns = [Column("subject"), Column(CLIENTS, COUNT)]
    columns += [Column(what.head, what.unit, 3) for what in shown]
    rows = []
    for sweep in swept:
        for level in sweep.runs:
            spreads = [sweep.of(what, level) for what in shown]
            cells = [None if value is None else value.middle for value in spreads]
            rows.append((sweep.name, level, *cells))
    return Table("clients", "by clients", tuple(columns), tuple(rows))


def _rounds_table(swept: Sequence[Swept]) -> Table:
    """Return a table of operations per second by number of clients, with the fitted law's value."""
    rates = sorted({name for sweep in swept if (name := _rate_name(sweep.first))})
    columns = [Column("subject"), Column(CLIENTS, COUNT), Column("rounds", COUNT)]
    columns += [Column(name, PER_SECOND) for name in (TPS.head, "lowest", "highest", "by the law")]
    columns += [Column(AGAIN.head, COUNT, 3), *(Column(name, COUNT) for name in rates)]
    rows = []
    for sweep in swept:
        for level, runs in sweep.runs.items():
            rate, again = sweep.of(TPS, level), sweep.of(AGAIN, level)
            if rate is None:
                continue
            fit = sweep.fits.get(TPS.key)
            cells: list[Cell] = [sweep.name, level, rate.count]
            cells += [rate.middle, rate.low, rate.high]
            cells += [None if fit is None else fit.law.throughput(level)]
            cells += [None if again is None else again.middle]
            rows.append((*cells, *(_rate(runs, name) for name in rates)))
    return Table("rounds", "operations a second over rounds", tuple(columns), tuple(rows))


def _rate_name(run: Run) -> str | None:
    transactions = summary_of(run).transactions
    return None if transactions is None or transactions.rate is None else transactions.rate.name


def _rate(runs: Sequence[StudyRun], name: str) -> float | None:
    """Return the median over rounds of the rate that the benchmark specification calls `name`."""
    by_run = [summary_of(run.run).transactions for run in runs]
    rates = [
        transactions.rate
        for transactions in by_run
        if transactions is not None and transactions.rate is not None
    ]
    over_rounds = spread(rate.value for rate in rates if rate.name == name)
    return None if over_rounds is None else over_rounds.middle


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
    for sweep in swept:
        for key, fit in sweep.fits.items():
            parameters = {
                "one client, a second": fit.single_per_s,
                "contention (sigma)": fit.sigma,
                "coherence (kappa)": fit.kappa,
                "clients at the knee": fit.knee_at,
                "clients at the most": fit.most_at,
                "the most, a second": fit.most,
            }
            for name, value in parameters.items():
                low, high = value.ends or (None, None)
                cells = (_finite(value.value), _finite(low), _finite(high))
                rows.append((sweep.name, key, name, *cells))
            rows.append((sweep.name, key, "typical error of the fit", fit.error, None, None))
    if not rows:
        return ()
    return (Table("law", "the Universal Scalability Law", LAW_COLUMNS, tuple(rows)),)


def _limits_table(swept: Sequence[Swept]) -> tuple[Table, ...]:
    """Return the table of an operation's time by cause, for the fewest and the most clients."""
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
            sweep.name,
            SHORT_NAMES[cause.name],
            cause.before_s,
            cause.after_s,
            cause.share,
            *(cause.interval or (None, None)),
        )
        for sweep in swept
        if sweep.limit is not None
        for cause in sweep.limit.grown
    ]
    if not rows:
        return ()
    title = "what a client's time goes into, for each operation that succeeds"
    return (Table("limits", title, columns, tuple(rows)),)


def _finite(value: float | None) -> float | None:
    return value if value is not None and value != float("inf") else None


def _says(sweep: Swept) -> Iterator[str]:
    yield f"{sweep.name}: {_throughput(sweep)}{_knee(sweep)}."
    if sweep.limit is not None:
        yield f"{sweep.name}: {sweep.limit.claim}."
    yield from _waste(sweep)


def _throughput(sweep: Swept) -> str:
    """Return a sentence on throughput with the fewest clients, at its maximum, with the most."""
    rates = {n: rate.middle for n in sweep.runs if (rate := sweep.of(TPS, n)) is not None}
    first, last = min(rates), max(rates)
    best = max(rates, key=lambda n: rates[n])
    sentence = f"{text(rates[first], PER_SECOND)} with {_clients(first)}"
    if best != first:
        sentence += f", {text(rates[best], PER_SECOND)} with {best}"
    if last != best:
        falls = rates[last] < FALLS * rates[best]
        sentence += f", {'only ' if falls else ''}{text(rates[last], PER_SECOND)} with {last}"
    statements = sweep.of(QPS, best)
    more = "" if statements is None else f" ({text(statements.middle, PER_SECOND)} statements)"
    return f"{sentence}{more if best == last else ''}"


def _knee(sweep: Swept) -> str:
    knee, last = sweep.knee_at, max(sweep.runs)
    if knee is None:
        return ""
    if knee.value > last:
        return f"; no knee in the range, up to {_clients(last)}{_doubt(sweep)}"
    return f"; the knee is at {_number(knee.value)} clients{_ends(knee.ends)}{_doubt(sweep)}"


def _doubt(sweep: Swept) -> str:
    """Return text on the error of the fitted scalability law; empty if the error is small."""
    error = sweep.fits[TPS.key].error
    return f" (the law is off by {percent_text(error)})" if error >= OFF_MIN else ""


def _ends(ends: tuple[float, float] | None) -> str:
    if ends is None:
        return ""
    return f" [{_number(ends[0])}, {_number(ends[1])}]"


def _number(clients: float) -> str:
    """Return a number of clients with one decimal, such as `5.3`: a fitted knee is no integer."""
    return "no end" if clients == float("inf") else f"{clients:.1f}"


def _waste(sweep: Swept) -> Iterator[str]:
    """Yield a sentence on time in failed attempts with the most clients, if it is at least 1 %."""
    last = max(sweep.runs)
    wasted, again = sweep.of(WASTED, last), sweep.of(AGAIN, last)
    if wasted is None or again is None or wasted.middle < 0.01:  # noqa: PLR2004 - a hundredth
        return
    tps, qps = (_growth(sweep, what) for what in (TPS, QPS))
    yield (
        f"{sweep.name}: with {_clients(last)} {percent_text(wasted.middle)} of their time is in"
        f" attempts that failed, {again.middle:.2g} an operation that succeeded; from"
        f" {_clients(min(sweep.runs))} on operations a second grow to {tps:.2g} times and"
        f" statements to {qps:.2g} times."
    )


def _growth(sweep: Swept, what: Quantified) -> float:
    first, last = sweep.of(what, min(sweep.runs)), sweep.of(what, max(sweep.runs))
    return last.middle / first.middle if first and last and first.middle else 1.0


def _clients(count: int) -> str:
    return f"{count} client{'' if count == 1 else 's'}"


def _notes(swept: Sequence[Swept]) -> Iterator[str]:
    if any(sweep.fits for sweep in swept):
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
    for sweep in swept:
        fit = sweep.fits.get(TPS.key)
        if fit is not None and fit.levels < LEVELS_ENOUGH:
            yield (
                f"{sweep.name}: {fit.levels} numbers of clients are few for a law of {PARAMETERS}"
                f" parameters: {LEVELS_ENOUGH} or more show whether it holds."
            )
        if fit is not None and fit.most_at.value == float("inf"):
            yield f"{sweep.name}: nothing says that more clients would do less (kappa is 0)."


def _missing(asked: Asked, swept: Sequence[Swept]) -> Iterator[str]:
    for made in asked.runs:
        if clients_of(made.run) is None:
            yield f"run {made.run.id} is no load of clients"
    for sweep in swept:
        if TPS.key not in sweep.fits:
            yield (
                f"{sweep.name}: the law of {len(sweep.runs)} numbers of clients; it takes at least"
                f" {PARAMETERS}"
            )
        if sweep.limit is None:
            yield f"{sweep.name}: what limits it takes two numbers of clients that can be compared"
