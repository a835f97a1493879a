"""Table of a TPC-H power test's time by how much data was in memory at its start."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from assay.analysis.composite.naming import POWER
from assay.analysis.figures.contract import Chart, Column, Figure, Measure, Table
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.host.state import StartingState, starting_state
from assay.analysis.metrics import BY_NAME, TOTAL, test_of, value_of
from assay.analysis.quantities import (
    BYTES,
    PER_HOUR,
    SECONDS,
    TIMES,
    by_subject,
    each_text,
    spread,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.analysis.figures.contract import Asked, Cell
    from assay.analysis.figures.subjects import Subject
    from assay.analysis.study_runs import StudyRun
    from assay.record.reader import Run

OPTIONS: dict[str, str] = {}
FACTOR = "state"
# Repeated runs from one state may differ by this share.
NOTABLE = 0.1
# States ordered from no data in memory to all data in memory.
IN_ORDER = ("cold", "os-warm", "loaded", "hot")
COLUMNS = (
    Column("subject"),
    Column("state"),
    Column("round", "count"),
    Column("all operations", SECONDS),
    Column("power", PER_HOUR),
    Column("first query"),
    Column("took", SECONDS),
    Column("it read", BYTES),
    Column("data in memory before"),
)


def figure(asked: Asked) -> Figure:
    """Return a table of power test times by the cache state at the start."""
    subjects = subjects_of(asked, without=(FACTOR,))
    states = _states(asked)
    measures = tuple(_measures(subjects, states))
    shown = tuple(subject.name for subject in subjects)
    keys = tuple(measure.key for measure in measures if measure.unit == SECONDS)
    powers = tuple(
        measure.key for measure in measures if measure.unit == PER_HOUR and measure.values
    )
    return Figure(
        asked.name,
        asked.kind,
        asked.title,
        says=tuple(_says(subjects, states, measures)),
        subjects=shown,
        measures=measures,
        tables=(Table("runs", "each run and what it found in memory", COLUMNS, _rows(subjects)),),
        charts=(
            Chart("seconds", "seconds of all operations, once", "bars", keys),
            *(
                (Chart("power", "power an hour, times the scale", "bars", powers),)
                if powers
                else ()
            ),
        ),
        notes=(*_notes(subjects), *_contradictions(subjects, states, measures)),
        missing=tuple(_missing(subjects, states)),
    )


@lru_cache(maxsize=256)
def state_of(run: Run) -> StartingState | None:
    """Return the state of memory and caches at a run's start; None if not known."""
    return starting_state(run)


def seconds_once(run: Run) -> float | None:
    """Return the seconds of one execution of all operations, from the first power test if any."""
    test = test_of(run)
    if test is None:
        return value_of(run, BY_NAME[TOTAL])
    power = test.runs[0].power if test.runs and not test.why_not else None
    return None if power is None else power.seconds


def _state_name(run: StudyRun) -> str:
    state = state_of(run.run)
    return run.levels.get(FACTOR) or ("not recorded" if state is None else state.asked)


def _states(asked: Asked) -> list[str]:
    states = dict.fromkeys(_state_name(run) for run in asked.runs)

    def place(name: str) -> tuple[int, str]:
        word = name.partition(":")[0]
        return (IN_ORDER.index(word) if word in IN_ORDER else len(IN_ORDER), name)

    return sorted(states, key=place)


def _measures(subjects: tuple[Subject, ...], states: list[str]) -> Iterator[Measure]:
    power = BY_NAME[POWER]
    for state in states:
        yield _state_measure(state, state, SECONDS, subjects, state, seconds_once)
    for state in states:
        yield _state_measure(
            f"{state}_power", state, PER_HOUR, subjects, state, lambda run: value_of(run, power)
        )


def _state_measure(
    key: str,
    title: str,
    unit: str,
    subjects: tuple[Subject, ...],
    state: str,
    quantity: Callable[[Run], float | None],
) -> Measure:
    values = by_subject(
        (
            subject.name,
            spread(quantity(run.run) for run in subject.runs if _state_name(run) == state),
        )
        for subject in subjects
    )
    return Measure(key, title, unit, values)


def _rows(subjects: tuple[Subject, ...]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(_row(subject, run) for subject in subjects for run in subject.runs)


def _row(subject: Subject, run: StudyRun) -> tuple[Cell, ...]:
    state = state_of(run.run)
    first = None if state is None else state.first_operation
    share = None if state is None else state.resident_share
    return (
        subject.name,
        _state_name(run),
        run.round,
        seconds_once(run.run),
        value_of(run.run, BY_NAME[POWER]),
        first or "-",
        None if first is None else _first_seconds(run.run, first),
        None if state is None else state.first_read_bytes,
        "not checked" if share is None else text(share, "share"),
    )


def _first_seconds(run: Run, operation: str) -> float | None:
    test = test_of(run)
    if test is not None and test.runs and test.runs[0].power is not None:
        lengths = {query.operation: query.seconds for query in test.runs[0].power.queries}
        return lengths.get(operation)
    return None


def _says(
    subjects: tuple[Subject, ...], states: list[str], measures: tuple[Measure, ...]
) -> Iterator[str]:
    by_key = {measure.key: measure for measure in measures}
    yield from _in_all(states, by_key)
    for subject in subjects:
        by_state = {
            state: by_key[state].values[subject.name].middle
            for state in states
            if subject.name in by_key[state].values
        }
        if len(by_state) < 2:  # noqa: PLR2004 - nothing to compare
            continue
        base = "hot" if "hot" in by_state else min(by_state, key=by_state.__getitem__)
        parts = [
            f"{text(seconds, SECONDS)} {state} ({text(seconds / by_state[base], TIMES)})"
            for state, seconds in by_state.items()
            if state != base
        ]
        yield (
            f"{subject.name}: all operations take {text(by_state[base], SECONDS)} {base},"
            f" {', '.join(parts)}{_power_says(subject.name, by_state, base, by_key)}."
        )


def _in_all(states: list[str], by_key: dict[str, Measure]) -> Iterator[str]:
    """Yield one sentence that compares the first starting state with the last for all engines."""
    first, last = by_key[states[0]].values, by_key[states[-1]].values
    both = [name for name in first if name in last]
    if len(both) > 1 and len(states) > 1:
        ratios = each_text((n, text(first[n].middle / last[n].middle, TIMES)) for n in both)
        yield f"Beginning {states[0]} takes {ratios} of what it takes {states[-1]}."


def _power_says(
    name: str, by_state: dict[str, float], base: str, by_key: dict[str, Measure]
) -> str:
    """Yield text on the power metric by starting state, since it weighs all operations equally."""
    powers = {
        state: by_key[f"{state}_power"].values[name].middle
        for state in by_state
        if name in by_key[f"{state}_power"].values
    }
    if base not in powers or len(powers) < 2:  # noqa: PLR2004 - nothing to compare
        return ""
    least = min(powers, key=powers.__getitem__)
    if least == base:
        return f"; its power is {text(powers[base], PER_HOUR)}, the lowest of them"
    return (
        f"; its power falls from {text(powers[base], PER_HOUR)} to {text(powers[least], PER_HOUR)}"
        f" {least}"
    )


def _notes(subjects: tuple[Subject, ...]) -> Iterator[str]:
    for subject in subjects:
        notes: dict[str, None] = {}
        for run in subject.runs:
            state = state_of(run.run)
            for remark in () if state is None else state.left:
                notes.setdefault(f"{subject.name}, {_state_name(run)}: {remark}.", None)
        yield from notes


def _contradictions(
    subjects: tuple[Subject, ...], states: list[str], measures: tuple[Measure, ...]
) -> Iterator[str]:
    """Yield sentences on starting states that were slower although more data were in memory."""
    by_key = {measure.key: measure for measure in measures}
    for subject in subjects:
        measured = [state for state in states if subject.name in by_key[state].values]
        for less, more in pairwise(measured):
            longer, took = (by_key[state].values[subject.name] for state in (more, less))
            if longer.middle > took.middle * (1 + NOTABLE):
                yield (
                    f"{subject.name} took longer {more} than {less}, which what is in memory does"
                    " not explain: other work of the host may; repeat it there where it is quiet."
                )


def _missing(subjects: tuple[Subject, ...], states: list[str]) -> Iterator[str]:
    for subject in subjects:
        played = {_state_name(run) for run in subject.runs}
        for state in states:
            if state not in played:
                yield f"{subject.name} was not run {state}"
    if len(states) == 1:
        yield f"all runs began {states[0]}: another state is nothing to compare with"
