"""Compares a statement's plan, columns read and settings between two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.analysis.plans.difference import STRUCTURAL, compare_plans
from assay.analysis.plans.pruning import table_columns
from assay.analysis.plans.recorded import read_plans
from assay.model.request_keys import ENGINE, INCIDENTAL
from assay.record.reader import said

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.analysis.plans.difference import PlanComparison
    from assay.analysis.plans.pruning import TableColumns
    from assay.model.plan import Plan
    from assay.record.reader import Run

# A smaller difference in the number of rows comes from the random parameters.
READS_FACTOR = 1.25
READS_MIN = 2.0
SET = "set "
Key = tuple[str, str | None]


@dataclass(frozen=True)
class Pruned:
    """The columns of one table that a statement reads and needs, in each of two compared runs.

    Attributes:
        table: The table.
        first, second: Columns on each side; None if that side has no plan.
    """

    table: str
    first: TableColumns | None
    second: TableColumns | None


@dataclass(frozen=True)
class Evidence:
    """The differences in plan, columns and reads of one statement between two compared runs.

    Attributes:
        plans: Comparison of the two plans; None means that a plan is not known.
        columns: Texts about columns that only one side reads; empty means no difference.
        reads: Texts about reads that differ; empty if there is no difference, or reads are not
            reported.
        pruned: Tables for which the engine reports the columns that it reads.
    """

    plans: PlanComparison | None = None
    columns: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    pruned: tuple[Pruned, ...] = ()

    @property
    def plan_words(self) -> tuple[str, ...]:
        """The structural changes of the query plan as text, largest first."""
        if self.plans is None:
            return ()
        return tuple(change.says for change in self.plans.changes if change.kind in STRUCTURAL)


def evidence_of(first: Run, second: Run) -> dict[Key, Evidence]:
    """Return plan and read differences of each statement whose plan is known in both runs."""
    same = first.facts["engine"]["name"] == second.facts["engine"]["name"]
    ours, theirs = _plans(first), _plans(second)
    before, after = _columns(first), _columns(second)
    by_statement = {}
    for key in dict.fromkeys([*ours, *theirs]):
        left, right = ours.get(key), theirs.get(key)
        plans = (
            None if left is None or right is None else compare_plans(left, right, same_engine=same)
        )
        reads = () if left is None or right is None else _reads(left, right)
        pruned = tuple(_pruned(before.get(key, {}), after.get(key, {})))
        by_statement[key] = Evidence(plans, _column_words(pruned), reads, pruned)
    return by_statement


def _plans(run: Run) -> dict[Key, Plan]:
    """Return query plans by (operation, statement); statement None if an operation has just one."""
    names = _names(run)
    by_statement: dict[Key, Plan] = {}
    for operation, plans in read_plans(run).items():
        for plan in plans:
            by_statement[operation, _name(names.get(operation), plan.name, plan.statement)] = plan
    return by_statement


def _names(run: Run) -> dict[str, list[str]]:
    """Return the statement names of each operation that has several statements."""
    plan = run.facts.get("plan", {})
    return dict(zip(plan.get("operations", ()), plan.get("statements") or (), strict=False))


def _name(names: list[str] | None, name: str | None, statement: int) -> str | None:
    if name is not None:
        return name
    return names[statement] if names and statement < len(names) else None


def _columns(run: Run) -> dict[Key, dict[str, TableColumns]]:
    """Return the table columns that each statement reads, if the engine reports them."""
    names = _names(run)
    by_statement: dict[Key, dict[str, TableColumns]] = {}
    for columns in table_columns(run):
        if columns.read is not None:
            key = (
                columns.operation,
                _name(names.get(columns.operation), columns.name, columns.statement),
            )
            by_statement.setdefault(key, {})[columns.table] = columns
    return by_statement


def _pruned(
    before: Mapping[str, TableColumns], after: Mapping[str, TableColumns]
) -> Iterator[Pruned]:
    for table in sorted(set(before) | set(after)):
        yield Pruned(table, before.get(table), after.get(table))


def _column_words(pruned: tuple[Pruned, ...]) -> tuple[str, ...]:
    texts = []
    for reading in pruned:
        if reading.first is None or reading.second is None:
            continue
        was, now = reading.first.read or (), reading.second.read or ()
        more = [name for name in now if name not in was]
        fewer = [name for name in was if name not in now]
        if more:
            texts.append(f"reads {_few(more)} of {reading.table} as well")
        if fewer:
            texts.append(f"does not read {_few(fewer)} of {reading.table} any more")
    return tuple(texts)


def _few(names: list[str], most: int = 4) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more columns"


def _reads(left: Plan, right: Plan) -> tuple[str, ...]:
    if left.reads is None or right.reads is None:
        return ()
    titles = {
        "index_lookups": "index look-ups",
        "index_rows": "rows through an index",
        "scan_rows": "rows by scans",
    }
    texts = []
    for name, title in titles.items():
        was, now = getattr(left.reads, name), getattr(right.reads, name)
        if was is None or now is None or abs(now - was) < READS_MIN:
            continue
        if max(was, now) >= READS_FACTOR * min(was, now):
            texts.append(f"{now:,.0f} {title} instead of {was:,.0f}")
    return tuple(texts)


def settings_that_differ(first: Run, second: Run) -> list[tuple[str, str, str]]:
    """Return (name, first value, second value) of settings that differ between two runs.

    For two engines or versions only requested settings are compared, because their other settings
    differ by design.
    """
    asked = [_asked(run) for run in (first, second)]
    engines = [
        (run.facts["engine"]["name"], run.facts["engine"]["version"]) for run in (first, second)
    ]
    settings = asked
    if engines[0] == engines[1]:
        settings = [_effective(run) | own for run, own in zip((first, second), asked, strict=True)]
        in_force = {f"{SET}{name}" for side in settings for name in side}
        settings = [
            {name: side[name] for name in side if name not in in_force} for side in settings
        ]
    names = sorted({*settings[0], *settings[1]})
    return [
        (name, settings[0].get(name, "-"), settings[1].get(name, "-"))
        for name in names
        if settings[0].get(name) != settings[1].get(name)
    ]


# Parts of a request that name the engine itself, or that do not change how it works.
NOT_SETTINGS = frozenset((*INCIDENTAL, *ENGINE))
# Settings that differ between any two instances, such as paths and ports.
OF_AN_INSTANCE = ("dir", "path", "port", "socket", "file", "pid", "location", "directory", "uuid")


def _asked(run: Run) -> dict[str, str]:
    request: Mapping[str, Any] = run.facts["request"]
    given = said(request)
    settings = {name: str(value) for name, value in given.items() if name not in NOT_SETTINGS}
    if request.get("prepare"):
        settings["prepare"] = ", ".join(request["prepare"])
    return settings | {f"{SET}{name}": str(value) for name, value in request["settings"].items()}


def _effective(run: Run) -> dict[str, str]:
    settings: Mapping[str, Any] = run.environment.get("engine", {}).get("settings") or {}
    return {
        name: str(value)
        for name, value in settings.items()
        if not any(word in name.lower() for word in OF_AN_INSTANCE)
    }
