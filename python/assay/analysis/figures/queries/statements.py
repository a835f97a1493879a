"""Statements on each engine: how long they take, by which plan, and what they read for it."""

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
from assay.analysis.figures.quantities import (
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
from assay.analysis.figures.statement_runs import (
    access_path,
    columns_by_statement,
    plans_by_statement,
    timed_statements,
)
from assay.analysis.figures.subjects import measure, subjects_of
from assay.analysis.plans.recorded import captured

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
# Behind the name of a statement: keys of measures.
RATIO, PRUNED, READ, GAIN = "_times", "_pruning", "_columns", "_gain"
# Below it, what columns that are not needed cost is not seen.
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
    """The figure."""
    subjects = subjects_of(asked)
    base = base_of(subjects, asked.options.get("base"))
    names = _names(asked, subjects)
    wide = {str(narrow): str(other) for narrow, other in asked.options.get("wide", {}).items()}
    factors = [_ratio(one, base, name) for one in subjects for name in names]
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=(*_says(subjects, base, names), *_pruned(subjects, wide)),
        subjects=tuple(one.name for one in subjects),
        measures=(*_measures(asked, subjects, base, names), *_of_columns(subjects, names, wide)),
        tables=tuple(_tables(subjects, base, names)),
        charts=(Chart("medians", "median latency", "dots", tuple(names), logarithmic=True),)
        if names
        else (),
        notes=((ONE_ROUND if alone(factors) else SEVERAL,) if any(factors) else ()),
        missing=tuple(_missing(subjects, names)),
    )


def _names(asked: Asked, subjects: Sequence[Subject]) -> list[str]:
    """Statements that are shown, in the order in which they were asked for or found."""
    found = [name for one in subjects for run in one.runs for name in timed_statements(run.run)]
    wanted = asked.options.get("statements")
    if wanted is None:
        return list(dict.fromkeys(found))
    return [str(name) for name in wanted if name in found]


def _median(name: str) -> Callable[[Run], float | None]:
    return partial(_of, name=name, quantile="median")


def _of(run: Run, name: str, quantile: str) -> float | None:
    one = timed_statements(run).get(name)
    value: float | None = None if one is None else getattr(one, quantile)
    return value


def _ratio(one: Subject, base: Subject | None, name: str) -> Factor | None:
    if base is None or one is base:
        return None
    return times(by_round(one, _median(name)), by_round(base, _median(name)))


def _measures(
    asked: Asked, subjects: Sequence[Subject], base: Subject | None, names: Sequence[str]
) -> Iterator[Measure]:
    for name in names:
        yield measure(name, name, SECONDS, subjects, _median(name))
    if base is not None:
        for name in names:
            ratios = by_subject((one.name, spread_of(_ratio(one, base, name))) for one in subjects)
            key = key_of(f"{name}{RATIO}", base, asked.options.get("base"))
            yield Measure(key, f"{name}, in times of {base.name}", TIMES, ratios)
    pairs = list(versions(subjects))
    for name in names if pairs else ():
        gains = by_subject((new.name, spread_of(_ratio(old, new, name))) for old, new in pairs)
        yield Measure(f"{name}{GAIN}", f"{name}, the first version over it", TIMES, gains)


def _of_columns(
    subjects: Sequence[Subject], names: Sequence[str], wide: Mapping[str, str]
) -> Iterator[Measure]:
    """What is read, and what reading more costs."""
    for narrow, other in wide.items():
        factors = by_subject((one.name, spread_of(_wider(one, narrow, other))) for one in subjects)
        yield Measure(f"{narrow}{PRUNED}", f"{other} over {narrow}", TIMES, factors)
    for name in names:
        known = partial(_columns_read, name=name)
        title = f"{name}, columns read"
        yield measure(f"{name}{READ}", title, COUNT, subjects, known)


def _wider(one: Subject, narrow: str, other: str) -> Factor | None:
    return times(by_round(one, _median(other)), by_round(one, _median(narrow)))


def _columns_read(run: Run, name: str) -> float | None:
    """Columns that a statement reads of all its tables; None where one of them is not told."""
    tables = columns_by_statement(run).get(name, ())
    known = [len(one.read) for one in tables if one.read is not None]
    return float(sum(known)) if tables and len(known) == len(tables) else None


def _tables(
    subjects: Sequence[Subject], base: Subject | None, names: Sequence[str]
) -> Iterator[Table]:
    """Those that have a row."""
    seconds = (Column("statement"), *(Column(one.name, SECONDS) for one in subjects))
    rows = [(name, *(_middle(one, name, "median") for one in subjects)) for name in names]
    yield Table("medians", "median latency", seconds, tuple(rows))
    slow = [(name, *(_middle(one, name, "p99") for one in subjects)) for name in names]
    yield Table("p99", "latency of the slowest in a hundred", seconds, tuple(slow))
    if base is not None:
        title = f"median latency, in times of {base.name}"
        yield Table("ratios", title, RATIOS, _ratio_rows(subjects, base, names))
    paths = [(name, who, path) for name in names for who, path in _grouped(subjects, name)]
    yield Table("paths", "how each statement gets at its rows", PATHS, tuple(paths))
    every = [(name, one) for name in names for one in subjects]
    columns = (_column_row(one, name) for name, one in every)
    known = tuple(row for row in columns if row[2] is not None)
    if known:
        yield Table("columns", "columns of its tables", COLUMNS, known)
    reads = tuple(row for name, one in every if (row := _read_row(one, name)) is not None)
    if reads:
        yield Table("reads", "what one execution asks storage for", READS_OF, reads)


def _ratio_rows(
    subjects: Sequence[Subject], base: Subject, names: Sequence[str]
) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        (name, one.name, *ends_of(_ratio(one, base, name)))
        for name in names
        for one in subjects
        if one is not base
    )


def _middle(one: Subject, name: str, quantile: str) -> float | None:
    told = spread(one.over_rounds(partial(_of, name=name, quantile=quantile)))
    return None if told is None else told.middle


def _plan(one: Subject, name: str) -> Plan | None:
    """Of the first run that has it."""
    plans = (plans_by_statement(run.run).get(name) for run in one.runs)
    return next((plan for plan in plans if plan is not None), None)


def _path(one: Subject, name: str) -> str | None:
    plan = _plan(one, name)
    return None if plan is None else access_path(plan)


def _column_row(one: Subject, name: str) -> tuple[Cell, ...]:
    found = (columns_by_statement(run.run).get(name) for run in one.runs)
    tables: tuple[TableColumns, ...] = next((some for some in found if some), ())
    unneeded = [column for table in tables for column in table.unneeded]
    widths = [table.unneeded_bytes for table in tables if table.unneeded]
    known = [width for width in widths if width is not None]
    counts = (_columns_read(run.run, name) for run in one.runs)
    return (
        name,
        one.name,
        next((count for count in counts if count is not None), None),
        sum(len(table.needed) for table in tables) if tables else None,
        sum(known) if known and len(known) == len(widths) else None,
        listed(unneeded, NAMED_COLUMNS) or "-",
    )


def _read_row(one: Subject, name: str) -> tuple[Cell, ...] | None:
    plan = _plan(one, name)
    if plan is None or plan.reads is None:
        return None
    reads = plan.reads
    return name, one.name, reads.index_lookups, reads.index_rows, reads.scan_rows


def _says(subjects: Sequence[Subject], base: Subject | None, names: Sequence[str]) -> Iterator[str]:
    """Where each subject stands worst beside the base, and where versions have other plans."""
    told = []
    for one in subjects:
        known = {n: f.times for n in names if (f := _ratio(one, base, n)) is not None}
        if known:
            worst = max(known, key=known.__getitem__)
            told.append((one.name, f"{worst}, {text(known[worst], TIMES)}"))
    if told and base is not None:
        yield f"Furthest behind {base.name}: {each_text(told)}."
    for old, new in versions(subjects):
        known = {n: f.times for n in names if (f := _ratio(old, new, n)) is not None}
        if known:
            most, least = (pick(known, key=known.__getitem__) for pick in (max, min))
            yield (
                f"{old.name} takes from {text(known[least], TIMES)} ({least}) to"
                f" {text(known[most], TIMES)} ({most}) of what {new.name} takes."
            )
    for name in names:
        yield from _other_plans(subjects, name)


def _other_plans(subjects: Sequence[Subject], name: str) -> Iterator[str]:
    """Versions of one engine that execute a statement otherwise: they tell plans alike."""
    for engine in dict.fromkeys(str(one.first.facts["engine"]["name"]) for one in subjects):
        mine = [one for one in subjects if one.first.facts["engine"]["name"] == engine]
        paths = list(_grouped(mine, name))
        if len(paths) > 1:
            yield f"{name} is executed by {each_text(paths)}."


def _grouped(subjects: Sequence[Subject], name: str) -> Iterator[tuple[str, str]]:
    """Subjects that execute a statement alike, and how."""
    paths = {one.name: path for one in subjects if (path := _path(one, name)) is not None}
    for path in dict.fromkeys(paths.values()):
        yield listed([who for who, own in paths.items() if own == path], len(paths)), path


def _pruned(subjects: Sequence[Subject], wide: Mapping[str, str]) -> Iterator[str]:
    """What reading more columns costs: as much as an engine saves that does not read them."""
    for narrow, other in wide.items():
        told = [
            (one.name, text(factor.times, TIMES))
            for one in subjects
            if (factor := _wider(one, narrow, other)) is not None and factor.times >= PRUNED_MIN
        ]
        if told:
            yield f"Reading more columns, {other} takes {each_text(told)} of {narrow}."


def _missing(subjects: Sequence[Subject], names: Sequence[str]) -> Iterator[str]:
    for one in subjects:
        lacking = [name for name in names if _middle(one, name, "median") is None]
        if lacking:
            yield f"{one.name} has no time of {listed(lacking)}"
        if all(_plan(one, name) is None for name in names):
            yield f"{one.name} has no plans: {_why_none(one.first)}"


def _why_none(run: Run) -> str:
    """Why a run has no plans: of several reasons the one of most statements."""
    known = captured(run)
    reasons = [one.reason for one in known.missing]
    return known.reason or max(reasons, key=reasons.count, default="none were told")
