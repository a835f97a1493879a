"""Charts of a transaction mix on each engine: rate, latency by type, and ratios to a base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.figures.compare.relative import (
    BASE,
    ONE_ROUND,
    SEVERAL,
    alone,
    base_of,
    by_round,
    ends_of,
    key_of,
    spread_of,
    times,
    versions,
)
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.mixes import mix_of, operations_of
from assay.analysis.figures.subjects import measure, subjects_of
from assay.analysis.quantities import (
    COUNT,
    PER_SECOND,
    SECONDS,
    TIMES,
    by_subject,
    each_text,
    spread,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.stats.rounds import Factor
    from assay.record.reader import Run

    RunMetric = Callable[[Run], float | None]

OPTIONS = {"base": BASE}
# Keys of the figure's measures.
PER_S, LATENCY, RATE, RATIO, LATER = "tps", "latency", "rate", "latency_times", "tps_gain"
DRAWN = ("p50", "p99")
# A 99th percentile of at least this many medians counts as a long tail.
TAIL_MIN = 5.0
RUNS = (
    Column("engine"),
    Column("a second", PER_SECOND),
    Column("mean latency", SECONDS),
    Column("made again", COUNT),
    Column("failed", COUNT),
    Column("rounds", COUNT),
)
QUANTILES = ("p50", "p90", "p99", "max")
TYPES = (
    Column("type"),
    Column("engine"),
    Column("mean", SECONDS),
    *(Column(name, SECONDS) for name in QUANTILES),
)
RATIOS = (
    Column("type"),
    Column("engine"),
    Column("takes", TIMES),
    Column("at least", TIMES),
    Column("at most", TIMES),
)
# Name of all transaction types together.
ALL = "all"


def figure(asked: Asked) -> Figure:
    """Return charts of transaction rates and response times."""
    every = subjects_of(asked)
    subjects = tuple(subject for subject in every if any(mix_of(run.run) for run in subject.runs))
    base = base_of(subjects, asked.options.get("base"))
    others = [subject for subject in subjects if base is not None and subject is not base]
    types = list(dict.fromkeys(name for subject in subjects for name in _types(subject)))
    of_types = tuple(f"{name}_{quantile}" for name in types for quantile in DRAWN)
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(subjects, base, types)),
        subjects=tuple(subject.name for subject in subjects),
        measures=tuple(_measures(asked, subjects, base, types)),
        tables=(
            Table("runs", "the mix on each engine", RUNS, _rows(subjects)),
            Table("types", "latency by type", TYPES, _by_type(subjects, types)),
            *_ratios(subjects, base, types),
        ),
        charts=(
            Chart("tps", "transactions a second", "bars", (PER_S,)),
            Chart("latency", "latency", "dots", of_types, logarithmic=True),
        )
        if subjects
        else (),
        notes=_notes([_ratio(other, base, _per_s) for other in others]),
        missing=tuple(
            f"{subject.name} played no mix" for subject in every if subject not in subjects
        ),
    )


def _per_s(run: Run) -> float | None:
    mix = mix_of(run)
    return None if mix is None else mix.per_s


def _mean(run: Run) -> float | None:
    mix = mix_of(run)
    return None if mix is None else mix.mean_s


def _counted(name: str) -> RunMetric:
    """Return a function that reads the number of retries or failures of a run."""
    return lambda run: None if (mix := mix_of(run)) is None else float(getattr(mix, name))


def _rate(run: Run) -> float | None:
    mix = mix_of(run)
    return None if mix is None or mix.rate is None else mix.rate.value


def _mean_of(name: str) -> RunMetric:
    """Return a function that reads the mean latency of a transaction type from a run."""
    return lambda run: None if (mix := mix_of(run)) is None else mix.means_s.get(name)


def _quantile_of(name: str, quantile: str) -> RunMetric:
    """Return a function that reads a percentile of a transaction type's latency from a run."""

    def latency(run: Run) -> float | None:
        mix = mix_of(run)
        if mix is None or name not in mix.latency:
            return None
        value: float | None = getattr(mix.latency[name], quantile)
        return value

    return latency


def _types(subject: Subject) -> list[str]:
    """Return the transaction types that were executed, in the order of the workload."""
    mixes = [mix for run in subject.runs if (mix := mix_of(run.run)) is not None]
    names = operations_of(subject.first)
    return [name for name in names if any(name in mix.latency for mix in mixes)]


def _measures(
    asked: Asked, subjects: Sequence[Subject], base: Subject | None, types: Sequence[str]
) -> Iterator[Measure]:
    yield measure(PER_S, "transactions a second", PER_SECOND, subjects, _per_s)
    yield measure(LATENCY, "mean latency", SECONDS, subjects, _mean)
    mixes = [mix for subject in subjects if (mix := mix_of(subject.first)) is not None]
    for name in list(dict.fromkeys(mix.rate.name for mix in mixes if mix.rate is not None))[:1]:
        yield measure(RATE, name, name, subjects, _rate)
    if base is not None:
        ratios = by_subject(
            (subject.name, spread_of(_ratio(subject, base, _mean))) for subject in subjects
        )
        title = f"mean latency, in times of {base.name}"
        key = key_of(RATIO, base, asked.options.get("base"))
        yield Measure(key, title, TIMES, {n: r for n, r in ratios.items() if n != base.name})
    later = by_subject((new.name, spread_of(gain)) for _, new, gain in _gains(subjects))
    if later:
        yield Measure(LATER, "transactions a second, of the first version", TIMES, later)
    for name in types:
        for quantile in DRAWN:
            latency = _quantile_of(name, quantile)
            yield measure(f"{name}_{quantile}", f"{name} {quantile}", SECONDS, subjects, latency)


def _gains(subjects: Sequence[Subject]) -> Iterator[tuple[Subject, Subject, Factor | None]]:
    """Yield an engine's first version, each later version, and the ratio of their rates."""
    return ((old, new, _ratio(new, old, _per_s)) for old, new in versions(subjects))


def _ratio(subject: Subject, base: Subject | None, metric: RunMetric) -> Factor | None:
    if base is None or subject is base:
        return None
    return times(by_round(subject, metric), by_round(base, metric))


def _middle(subject: Subject, metric: RunMetric) -> float | None:
    over_rounds = spread(subject.over_rounds(metric))
    return None if over_rounds is None else over_rounds.middle


def _rows(subjects: Sequence[Subject]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        (
            subject.name,
            _middle(subject, _per_s),
            _middle(subject, _mean),
            _middle(subject, _counted("retries")),
            _middle(subject, _counted("failed")),
            len(by_round(subject, _per_s)),
        )
        for subject in subjects
    )


def _by_type(subjects: Sequence[Subject], types: Sequence[str]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        (
            name,
            subject.name,
            _middle(subject, _mean_of(name)),
            *(_middle(subject, _quantile_of(name, quantile)) for quantile in QUANTILES),
        )
        for name in types
        for subject in subjects
    )


def _ratios(
    subjects: Sequence[Subject], base: Subject | None, types: Sequence[str]
) -> Iterator[Table]:
    """Yield tables of mean latency relative to the base engine, in total and by type."""
    if base is None:
        return
    means = {ALL: _mean, **{name: _mean_of(name) for name in types}}
    rows = tuple(
        (name, subject.name, *ends_of(_ratio(subject, base, of)))
        for name, of in means.items()
        for subject in subjects
        if subject is not base
    )
    yield Table("ratios", f"mean latency, in times of {base.name}", RATIOS, rows)


def _says(subjects: Sequence[Subject], base: Subject | None, types: Sequence[str]) -> Iterator[str]:
    rates = [(subject.name, text(_middle(subject, _per_s), PER_SECOND)) for subject in subjects]
    if rates:
        yield f"Transactions a second: {each_text(rates)}."
    for subject in subjects:
        factor = _ratio(subject, base, _mean)
        if factor is not None and base is not None:
            yield (
                f"A transaction takes {subject.name} {text(factor.times, TIMES)} what it takes"
                f" {base.name}{_worst_type(subject, base, types)}."
            )
    for old, new, gain in _gains(subjects):
        if gain is not None:
            yield f"{new.name} has {text(gain.times, TIMES)} the rate of {old.name}."
    yield from (sentence for subject in subjects if (sentence := _tail(subject, types)))


def _worst_type(subject: Subject, base: Subject, types: Sequence[str]) -> str:
    """Return a sentence on the transaction type with the largest latency ratio to the base."""
    ratios = {n: f.times for n in types if (f := _ratio(subject, base, _mean_of(n))) is not None}
    if len(ratios) < 2:  # noqa: PLR2004 - nothing to compare
        return ""
    worst = max(ratios, key=ratios.__getitem__)
    return f", most in {worst} ({text(ratios[worst], TIMES)})"


def _tail(subject: Subject, types: Sequence[str]) -> str | None:
    """Return a sentence on the transaction type with the largest ratio of p99 to median."""
    quantiles: dict[str, tuple[float, float]] = {}
    for name in types:
        median, slow = (_middle(subject, _quantile_of(name, quantile)) for quantile in DRAWN)
        if median and slow:
            quantiles[name] = median, slow
    if not quantiles:
        return None
    worst = max(quantiles, key=lambda name: quantiles[name][1] / quantiles[name][0])
    median, slow = quantiles[worst]
    if slow < TAIL_MIN * median:
        return None
    return (
        f"{subject.name}: the slowest in a hundred of {worst} take {text(slow, SECONDS)}, its"
        f" median {text(median, SECONDS)}."
    )


def _notes(factors: Sequence[Factor | None]) -> tuple[str, ...]:
    if not factors:
        return ()
    return (ONE_ROUND if alone(factors) else SEVERAL,)
