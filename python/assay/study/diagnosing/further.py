"""Changes that no finding advises, which a diagnosis tries when no advised one can be kept.

A rule may miss a cause that a trial finds: a setting or a limit that the run was given, a query
whose result another form gives faster, or indexes that the optimiser would use if they existed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.analysis.findings.operation_shares import names_text
from assay.analysis.plans.recorded import captured, read_plans
from assay.analysis.try_.trial import times_of
from assay.engines.contract import EngineError
from assay.engines.discovery import find_engine
from assay.model.errors import UsageError
from assay.model.finding import Advice, Finding
from assay.model.sql import statement_of
from assay.study.diagnosing.candidates import tried_candidate
from assay.workloads.discovery import find_workload, find_workloads
from assay.workloads.rewriting import indexes_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.model.catalogue import Index
    from assay.model.finding import AdviceKind
    from assay.record.reader import Run
    from assay.running.asked.request import RunRequest
    from assay.study.diagnosing.candidates import Candidate
    from assay.workloads.rewriting.index_columns import IndexColumns

GIVEN_OPTION, OTHER_FORM, TRIED_INDEX = "given-option", "other-form", "tried-index"
FURTHER_METHODS = (GIVEN_OPTION, OTHER_FORM, TRIED_INDEX)
# Smallest gain of a change that no finding explains.
FURTHER_GAIN_MIN = 0.1
# Operations with a smaller share of the time are not written in another form.
SHARE_MIN = 0.1
SETTINGS_MAX = 8
# All of them are created for the optimiser to choose from.
INDEXES_MAX = 6
ALL_INDEXES = "indexes that a plan might use"
# Experiments with another form of a query, whose rows are compared.
FORMS: tuple[AdviceKind, ...] = (
    "array-element",
    "exists",
    "exists-for-count",
    "union-of-joins",
    "window-function",
)
SETTLE = "a trial of the change, which this is"


def further_candidates(
    run: Run, base: RunRequest, advised: Sequence[Candidate], asked: RunRequest
) -> list[Candidate]:
    """Return changes of a run that no finding advises and that may save time.

    Args:
        run: Run that was explained.
        base: Request of the run.
        advised: Changes that findings advise. What they change is not changed in another way.
        asked: Request that the user made, without changes that the diagnosis kept.
    """
    causes = [
        *_indexes(run, base),
        *_given_options(run, base, advised, asked),
        *_other_forms(run, base, advised),
    ]
    candidates = (_candidate(cause, base) for cause in causes)
    return [
        replace(candidate, change=ALL_INDEXES) if candidate.kind == "index" else candidate
        for candidate in candidates
        if candidate is not None
    ]


def _given_options(
    run: Run, base: RunRequest, advised: Sequence[Candidate], asked: RunRequest
) -> Iterator[Finding]:
    """Yield a cause for each setting and limit of the user that no advised change alters.

    Settings that durability depends on, or that a kept change altered, are left out.
    """
    levels = find_engine(base.engine).facts.durability.values()
    left_out = {name for level in levels for name in level.settings}
    left_out |= _altered(base.settings, asked.settings) | _altered(base.limits, asked.limits)
    for candidate in advised:
        request = candidate.request
        left_out |= _altered(base.settings, request.settings) | _altered(
            base.limits, request.limits
        )
    settings = [name for name in base.settings if name not in left_out]
    for name in settings[:SETTINGS_MAX]:
        given = f"{name}={base.settings[name]}"
        yield _cause(run, GIVEN_OPTION, _given_text(given), Advice("default-setting", name), ())
    for name in base.limits:
        if name not in left_out:
            given = f"a limit of {name}"
            yield _cause(run, GIVEN_OPTION, _given_text(given), Advice("limit", name), ())


def _given_text(given: str) -> str:
    return f"the run was given {given}, and no finding says what this costs"


def _altered(before: Mapping[str, object], after: Mapping[str, object]) -> set[str]:
    """Return the options whose value a change alters or leaves out."""
    return {name for name, value in before.items() if after.get(name) != value}


def _other_forms(run: Run, base: RunRequest, advised: Sequence[Candidate]) -> Iterator[Finding]:
    """Yield a cause for each large operation and each other form, whether possible or not."""
    known = {
        (cause.advice.kind, cause.advice.subject)
        for candidate in advised
        for cause in candidate.causes
        if cause.advice is not None
    }
    for operation in _large_operations(run, base):
        for kind in FORMS:
            if (kind, operation) not in known:
                claim = (
                    f"{operation} can be written in another form, and no finding says what its "
                    "form costs"
                )
                yield _cause(run, OTHER_FORM, claim, Advice(kind, operation), (operation,))


def _large_operations(run: Run, base: RunRequest) -> list[str]:
    """Return the operations of a request with a large share of the time, the largest first."""
    seconds = times_of(run).operations
    whole_s = sum(seconds.values())
    names = sorted(seconds, key=lambda name: -seconds[name])
    wanted = [name for name in names if not base.operations or name in base.operations]
    return [name for name in wanted if seconds[name] >= SHARE_MIN * whole_s]


def _indexes(run: Run, base: RunRequest) -> Iterator[Finding]:
    """Yield one cause for all indexes that large operations could use and that do not exist.

    The workloads of Assay have the indexes that their rules provide for.
    """
    workload = find_workload(base.workload)
    shipped = {each.folder for each in find_workloads().values()}
    if base.dsn is not None or not workload.makes_data or workload.folder in shipped:
        return
    there = captured(run).indexes
    if there is None:
        return
    dialects = find_engine(base.engine).facts.dialects
    # Queries may find and read the same columns in different parts, or write their names in another
    # letter case.
    found: dict[tuple[str, ...], tuple[IndexColumns, str]] = {}
    for operation in _large_operations(run, base):
        try:
            text = workload.statement(operation, dialects, base.scale).text
            wanted = indexes_for(text, dialects, *workload.declared(dialects, base.scale))
        except UsageError:
            continue
        for index in wanted:
            names = tuple(name.lower() for name in (index.table, *index.columns))
            if not _exists(index, there):
                found.setdefault(names, (index, operation))
    if found:
        parts = [_index_advice(index) for index, _ in list(found.values())[:INDEXES_MAX]]
        operations = tuple(dict.fromkeys(operation for _, operation in found.values()))
        advice = replace(parts[0], also=tuple(parts[1:]))
        yield _cause(run, TRIED_INDEX, _index_text(operations), advice, operations)


def _exists(wanted: IndexColumns, there: Mapping[str, Sequence[Index]]) -> bool:
    """Return True if a usable index begins with the columns, or finds single rows by the first.

    Columns that the query only reads do not count: without them, each row is looked up in the
    table, which costs little for few rows.
    """
    columns = [name.lower() for name in wanted.searched]
    for table, indexes in there.items():
        if table.lower() != wanted.table.lower():
            continue
        for index in indexes:
            own = [name.lower() for name in index.columns]
            is_key = index.unique and columns[: len(own)] == own
            if (
                index.valid
                and index.predicate is None
                and (own[: len(columns)] == columns or is_key)
            ):
                return True
    return False


def _index_advice(index: IndexColumns) -> Advice:
    return Advice("index", index.table, {"columns": ", ".join(index.columns)})


def _index_text(operations: Sequence[str]) -> str:
    return (
        f"{names_text(operations)} could use indexes that do not exist, and no finding says what "
        "they would save"
    )


def with_used_indexes(candidate: Candidate, base: RunRequest, planned: Run) -> Candidate | None:
    """Return the candidate with those of its indexes that its operations' plans use, or None.

    Args:
        candidate: Change that creates all indexes that might be used.
        base: Request of the run.
        planned: Run that captured the plans with all of these indexes.
    """
    cause, plans = candidate.cause, read_plans(planned)
    assert cause.advice is not None  # noqa: S101 - see `_candidate`
    used_by = {
        node.index: operation
        for operation in cause.operations
        for plan in plans.get(operation, ())
        for node in plan.root.walk()
        if node.index is not None
    }
    names = {_index_name(part): part for part in cause.advice.parts}
    parts = [part for name, part in names.items() if name in used_by]
    if not parts:
        return None
    operations = tuple(dict.fromkeys(used_by[name] for name in names if name in used_by))
    advice = replace(parts[0], also=tuple(parts[1:]))
    cause = replace(cause, claim=_index_text(operations), operations=operations, advice=advice)
    return _candidate(cause, base)


def _index_name(advice: Advice) -> str:
    return statement_of("$name", advice.subject, advice.columns, quote="")


def _cause(
    run: Run, method: str, claim: str, advice: Advice, operations: tuple[str, ...]
) -> Finding:
    return Finding(
        claim,
        0.0,
        None,
        (run.id,),
        method,
        operations=operations,
        advice=advice,
        certainty="suspected",
        settle=SETTLE,
    )


def _candidate(cause: Finding, base: RunRequest) -> Candidate | None:
    """Return the run with a change; None if the engine or the query does not allow it."""
    try:
        return tried_candidate(cause, base, expected=0.0, gain_min=FURTHER_GAIN_MIN)
    except (UsageError, EngineError):
        return None
