"""Tables of statements on each engine: their times, plans and reads."""

from __future__ import annotations

from functools import partial
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
from assay.analysis.figures.statement_runs import (
    access_path,
    columns_by_statement,
    plans_by_statement,
    timed_statements,
)
from assay.analysis.figures.subjects import measure, subjects_of
from assay.analysis.plans.recorded import captured
from assay.analysis.quantities import (
    BYTES,
    COUNT,
    SECONDS,
    TIMES,
    by_subject,
    each_text,
    listed,
    spread,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.plans.pruning import TableColumns
    from assay.analysis.stats.rounds import Factor
    from assay.model.plan import Plan
    from assay.record.reader import Run

OPTIONS = {
    "statements": "those that are shown: an operation's name, or where it has several statements"
    " OPERATION.STATEMENT; without it all",
    "wide": "by the name of a statement another one, which is the same but reads more columns",
    "base": BASE,
}
# Suffixes of measure keys, after the name of the statement.
RATIO, PRUNED, READ, GAIN = "_times", "_pruning", "_columns", "_gain"
# Below this factor, the cost of reading unneeded columns is not visible.
PRUNED_MIN = 1.1
PATHS = (Column("statement"), Column("engine"), Column("is executed by"))
COLUMNS = (
    Column("statement"),
    Column("engine"),
    Column("read", COUNT),
    Column("needed", COUNT),
    Column("at most", BYTES),
    Column("read and not needed"),
)
READS_OF = (
    Column("statement"),
    Column("engine"),
    Column("index look-ups", COUNT),
    Column("rows by index", COUNT),
    Column("rows scanned", COUNT),
)
RATIOS = (
    Column("statement"),
    Column("engine"),
    Column("takes", TIMES),
    Column("at least", TIMES),
    Column("at most", TIMES),
)
NAMED_COLUMNS = 4


def figure(asked: Asked) -> Figure:
    """Return tables of time by statement."""
    subjects = subjects_of(asked)
    base = base_of(subjects, asked.options.get("base"))
    names = _names(asked, subjects)
    wide = {str(narrow): str(other) for narrow, other in asked.options.get("wide", {}).items()}
    factors = [_ratio(subject, base, name) for subject in subjects for name in names]
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=(*_says(subjects, base, names), *_pruned(subjects, wide)),
        subjects=tuple(subject.name for subject in subjects),
        measures=(
            *_measures(asked, subjects, base, names),
            *_column_measures(subjects, names, wide),
        ),
        tables=tuple(_tables(subjects, base, names)),
        charts=(Chart("medians", "median latency", "dots", tuple(names), logarithmic=True),)
        if names
        else (),
        notes=((ONE_ROUND if alone(factors) else SEVERAL,) if any(factors) else ()),
        missing=tuple(_missing(subjects, names)),
    )


def _names(asked: Asked, subjects: Sequence[Subject]) -> list[str]:
    """Return the statements to show, in the requested order or in the order of the runs."""
    timed = [
        name for subject in subjects for run in subject.runs for name in timed_statements(run.run)
    ]
    wanted = asked.options.get("statements")
    if wanted is None:
        return list(dict.fromkeys(timed))
    return [str(name) for name in wanted if name in timed]


def _median(name: str) -> Callable[[Run], float | None]:
    return partial(_latency, name=name, quantile="median")


def _latency(run: Run, name: str, quantile: str) -> float | None:
    statement = timed_statements(run).get(name)
    value: float | None = None if statement is None else getattr(statement, quantile)
    return value


def _ratio(subject: Subject, base: Subject | None, name: str) -> Factor | None:
    if base is None or subject is base:
        return None
    return times(by_round(subject, _median(name)), by_round(base, _median(name)))


def _measures(
    asked: Asked, subjects: Sequence[Subject], base: Subject | None, names: Sequence[str]
) -> Iterator[Measure]:
    for name in names:
        yield measure(name, name, SECONDS, subjects, _median(name))
    if base is not None:
        for name in names:
            ratios = by_subject(
                (subject.name, spread_of(_ratio(subject, base, name))) for subject in subjects
            )
            key = key_of(f"{name}{RATIO}", base, asked.options.get("base"))
            yield Measure(key, f"{name}, in times of {base.name}", TIMES, ratios)
    pairs = list(versions(subjects))
    for name in names if pairs else ():
        gains = by_subject((new.name, spread_of(_ratio(old, new, name))) for old, new in pairs)
        yield Measure(f"{name}{GAIN}", f"{name}, the first version over it", TIMES, gains)


def _column_measures(
    subjects: Sequence[Subject], names: Sequence[str], wide: Mapping[str, str]
) -> Iterator[Measure]:
    """Yield the number of columns that statements read, and the time that extra columns cost."""
    for narrow, other in wide.items():
        factors = by_subject(
            (subject.name, spread_of(_wider(subject, narrow, other))) for subject in subjects
        )
        yield Measure(f"{narrow}{PRUNED}", f"{other} over {narrow}", TIMES, factors)
    for name in names:
        columns_read = partial(_columns_read, name=name)
        title = f"{name}, columns read"
        yield measure(f"{name}{READ}", title, COUNT, subjects, columns_read)


def _wider(subject: Subject, narrow: str, other: str) -> Factor | None:
    return times(by_round(subject, _median(other)), by_round(subject, _median(narrow)))


def _columns_read(run: Run, name: str) -> float | None:
    """Return the number of columns that a statement reads in all tables; None if any is unknown."""
    tables = columns_by_statement(run).get(name, ())
    counts = [len(table.read) for table in tables if table.read is not None]
    return float(sum(counts)) if tables and len(counts) == len(tables) else None


def _tables(
    subjects: Sequence[Subject], base: Subject | None, names: Sequence[str]
) -> Iterator[Table]:
    """Yield the non-empty tables of statement times, plans and reads."""
    seconds = (Column("statement"), *(Column(subject.name, SECONDS) for subject in subjects))
    rows = [(name, *(_middle(subject, name, "median") for subject in subjects)) for name in names]
    yield Table("medians", "median latency", seconds, tuple(rows))
    slow = [(name, *(_middle(subject, name, "p99") for subject in subjects)) for name in names]
    yield Table("p99", "latency of the slowest in a hundred", seconds, tuple(slow))
    if base is not None:
        title = f"median latency, in times of {base.name}"
        yield Table("ratios", title, RATIOS, _ratio_rows(subjects, base, names))
    paths = [(name, who, path) for name in names for who, path in _grouped(subjects, name)]
    yield Table("paths", "how each statement gets at its rows", PATHS, tuple(paths))
    every = [(name, subject) for name in names for subject in subjects]
    columns = (_column_row(subject, name) for name, subject in every)
    column_rows = tuple(row for row in columns if row[2] is not None)
    if column_rows:
        yield Table("columns", "columns of its tables", COLUMNS, column_rows)
    reads = tuple(row for name, subject in every if (row := _read_row(subject, name)) is not None)
    if reads:
        yield Table("reads", "what one execution asks storage for", READS_OF, reads)


def _ratio_rows(
    subjects: Sequence[Subject], base: Subject, names: Sequence[str]
) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        (name, subject.name, *ends_of(_ratio(subject, base, name)))
        for name in names
        for subject in subjects
        if subject is not base
    )


def _middle(subject: Subject, name: str, quantile: str) -> float | None:
    latency = spread(subject.over_rounds(partial(_latency, name=name, quantile=quantile)))
    return None if latency is None else latency.middle


def _plan(subject: Subject, name: str) -> Plan | None:
    """Return the plan of a statement from the first run that has one."""
    plans = (plans_by_statement(run.run).get(name) for run in subject.runs)
    return next((plan for plan in plans if plan is not None), None)


def _path(subject: Subject, name: str) -> str | None:
    plan = _plan(subject, name)
    return None if plan is None else access_path(plan)


def _column_row(subject: Subject, name: str) -> tuple[Cell, ...]:
    by_run = (columns_by_statement(run.run).get(name) for run in subject.runs)
    tables: tuple[TableColumns, ...] = next((some for some in by_run if some), ())
    unneeded = [column for table in tables for column in table.unneeded]
    widths = [table.unneeded_bytes for table in tables if table.unneeded]
    known_widths = [width for width in widths if width is not None]
    counts = (_columns_read(run.run, name) for run in subject.runs)
    return (
        name,
        subject.name,
        next((count for count in counts if count is not None), None),
        sum(len(table.needed) for table in tables) if tables else None,
        sum(known_widths) if known_widths and len(known_widths) == len(widths) else None,
        listed(unneeded, NAMED_COLUMNS) or "-",
    )


def _read_row(subject: Subject, name: str) -> tuple[Cell, ...] | None:
    plan = _plan(subject, name)
    if plan is None or plan.reads is None:
        return None
    reads = plan.reads
    return name, subject.name, reads.index_lookups, reads.index_rows, reads.scan_rows


def _says(subjects: Sequence[Subject], base: Subject | None, names: Sequence[str]) -> Iterator[str]:
    """Yield sentences on each engine's worst statement, and on plans that differ by version."""
    furthest = []
    for subject in subjects:
        ratios = {n: f.times for n in names if (f := _ratio(subject, base, n)) is not None}
        if ratios:
            worst = max(ratios, key=ratios.__getitem__)
            furthest.append((subject.name, f"{worst}, {text(ratios[worst], TIMES)}"))
    if furthest and base is not None:
        yield f"Furthest behind {base.name}: {each_text(furthest)}."
    for old, new in versions(subjects):
        ratios = {n: f.times for n in names if (f := _ratio(old, new, n)) is not None}
        if ratios:
            most, least = (pick(ratios, key=ratios.__getitem__) for pick in (max, min))
            yield (
                f"{old.name} takes from {text(ratios[least], TIMES)} ({least}) to"
                f" {text(ratios[most], TIMES)} ({most}) of what {new.name} takes."
            )
    for name in names:
        yield from _other_plans(subjects, name)


def _other_plans(subjects: Sequence[Subject], name: str) -> Iterator[str]:
    """Yield a sentence for engine versions that execute a statement by different plans."""
    for engine in dict.fromkeys(str(subject.first.facts["engine"]["name"]) for subject in subjects):
        mine = [subject for subject in subjects if subject.first.facts["engine"]["name"] == engine]
        paths = list(_grouped(mine, name))
        if len(paths) > 1:
            yield f"{name} is executed by {each_text(paths)}."


def _grouped(subjects: Sequence[Subject], name: str) -> Iterator[tuple[str, str]]:
    """Yield groups of engines that execute a statement alike, and their access path."""
    paths = {
        subject.name: path for subject in subjects if (path := _path(subject, name)) is not None
    }
    for path in dict.fromkeys(paths.values()):
        yield listed([who for who, own in paths.items() if own == path], len(paths)), path


def _pruned(subjects: Sequence[Subject], wide: Mapping[str, str]) -> Iterator[str]:
    """Yield sentences on the time that reading more columns costs, which shows column pruning."""
    for narrow, other in wide.items():
        costs = [
            (subject.name, text(factor.times, TIMES))
            for subject in subjects
            if (factor := _wider(subject, narrow, other)) is not None and factor.times >= PRUNED_MIN
        ]
        if costs:
            yield f"Reading more columns, {other} takes {each_text(costs)} of {narrow}."


def _missing(subjects: Sequence[Subject], names: Sequence[str]) -> Iterator[str]:
    for subject in subjects:
        lacking = [name for name in names if _middle(subject, name, "median") is None]
        if lacking:
            yield f"{subject.name} has no time of {listed(lacking)}"
        if all(_plan(subject, name) is None for name in names):
            yield f"{subject.name} has no plans: {_reason_missing(subject.first)}"


def _reason_missing(run: Run) -> str:
    """Return the most frequent reason why a run's statements have no plans."""
    plans = captured(run)
    reasons = [gap.reason for gap in plans.missing]
    return plans.reason or max(reasons, key=reasons.count, default="none were told")
