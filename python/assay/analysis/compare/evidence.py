"""What is different between two runs of a statement: its plan, what it reads, and settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.analysis.plans.difference import STRUCTURAL, compare_plans
from assay.analysis.plans.pruning import table_columns
from assay.analysis.plans.recorded import read_plans

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.analysis.plans.difference import PlanComparison
    from assay.analysis.plans.pruning import TableColumns
    from assay.model.plan import Plan
    from assay.record.reader import Run

# A count of rows that differs by less is the values that were drawn.
READS_FACTOR = 1.25
READS_MIN = 2.0
SET = "set "
Key = tuple[str, str | None]


@dataclass(frozen=True)
class Pruned:
    """What a statement reads of one table on both sides, and what it needs.

    Attributes:
        table: The table.
        first, second: None where a side has no plan of it.
    """

    table: str
    first: TableColumns | None
    second: TableColumns | None


@dataclass(frozen=True)
class Evidence:
    """What was found of one statement on both sides.

    Attributes:
        plans: The two plans side by side; None where one of them is not known.
        columns: In words, which columns are read more or less; empty where none is.
        reads: In words, which reads are more or less; empty where none is, or nobody tells.
        pruned: Tables of which an engine says what columns it reads.
    """

    plans: PlanComparison | None = None
    columns: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    pruned: tuple[Pruned, ...] = ()

    @property
    def plan_words(self) -> tuple[str, ...]:
        """What of the plan is another way of doing it, largest first."""
        if self.plans is None:
            return ()
        return tuple(one.says for one in self.plans.changes if one.kind in STRUCTURAL)


def evidence_of(first: Run, second: Run) -> dict[Key, Evidence]:
    """What differs of each statement that both runs have a plan of."""
    same = first.facts["engine"]["name"] == second.facts["engine"]["name"]
    ours, theirs = _plans(first), _plans(second)
    before, after = _columns(first), _columns(second)
    found = {}
    for key in dict.fromkeys([*ours, *theirs]):
        one, other = ours.get(key), theirs.get(key)
        plans = (
            None if one is None or other is None else compare_plans(one, other, same_engine=same)
        )
        reads = () if one is None or other is None else _reads(one, other)
        pruned = tuple(_pruned(before.get(key, {}), after.get(key, {})))
        found[key] = Evidence(plans, _column_words(pruned), reads, pruned)
    return found


def _plans(run: Run) -> dict[Key, Plan]:
    """Plans by operation and statement; the statement is None where an operation has one alone."""
    names = _names(run)
    found: dict[Key, Plan] = {}
    for operation, plans in read_plans(run).items():
        for plan in plans:
            found[operation, _name(names.get(operation), plan.name, plan.statement)] = plan
    return found


def _names(run: Run) -> dict[str, list[str]]:
    """Names of statements by operation, of those that have several."""
    plan = run.facts.get("plan", {})
    return dict(zip(plan.get("operations", ()), plan.get("statements") or (), strict=False))


def _name(known: list[str] | None, name: str | None, statement: int) -> str | None:
    if name is not None:
        return name
    return known[statement] if known and statement < len(known) else None


def _columns(run: Run) -> dict[Key, dict[str, TableColumns]]:
    """Columns that are read, by statement and table, where the engine tells."""
    names = _names(run)
    found: dict[Key, dict[str, TableColumns]] = {}
    for one in table_columns(run):
        if one.read is not None:
            key = (one.operation, _name(names.get(one.operation), one.name, one.statement))
            found.setdefault(key, {})[one.table] = one
    return found


def _pruned(
    before: Mapping[str, TableColumns], after: Mapping[str, TableColumns]
) -> Iterator[Pruned]:
    for table in sorted(set(before) | set(after)):
        yield Pruned(table, before.get(table), after.get(table))


def _column_words(pruned: tuple[Pruned, ...]) -> tuple[str, ...]:
    words = []
    for one in pruned:
        if one.first is None or one.second is None:
            continue
        was, now = one.first.read or (), one.second.read or ()
        more = [name for name in now if name not in was]
        fewer = [name for name in was if name not in now]
        if more:
            words.append(f"reads {_few(more)} of {one.table} as well")
        if fewer:
            words.append(f"does not read {_few(fewer)} of {one.table} any more")
    return tuple(words)


def _few(names: list[str], most: int = 4) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more columns"


def _reads(one: Plan, other: Plan) -> tuple[str, ...]:
    if one.reads is None or other.reads is None:
        return ()
    titles = {
        "index_lookups": "index look-ups",
        "index_rows": "rows through an index",
        "scan_rows": "rows by scans",
    }
    words = []
    for name, title in titles.items():
        was, now = getattr(one.reads, name), getattr(other.reads, name)
        if was is None or now is None or abs(now - was) < READS_MIN:
            continue
        if max(was, now) >= READS_FACTOR * min(was, now):
            words.append(f"{now:,.0f} {title} instead of {was:,.0f}")
    return tuple(words)


def settings_that_differ(first: Run, second: Run) -> list[tuple[str, str, str]]:
    """Name and both values of what was asked of the engine or is in force, where that differs.

    Of two engines, or two versions, only what was asked: their other settings are their own.
    """
    asked = [_asked(run) for run in (first, second)]
    engines = [
        (run.facts["engine"]["name"], run.facts["engine"]["version"]) for run in (first, second)
    ]
    told = asked
    if engines[0] == engines[1]:
        told = [_effective(run) | own for run, own in zip((first, second), asked, strict=True)]
        known = {f"{SET}{name}" for one in told for name in one}
        told = [{name: one[name] for name in one if name not in known} for one in told]
    names = sorted({*told[0], *told[1]})
    return [
        (name, told[0].get(name, "-"), told[1].get(name, "-"))
        for name in names
        if told[0].get(name) != told[1].get(name)
    ]


# Of a request these are the engine itself, or say nothing of how it works.
NOT_SETTINGS = ("engine", "engine_version", "settings", "durability_settings", "seed", "dsn")
# Settings of an instance that no two runs have alike: places, ports.
OF_AN_INSTANCE = ("dir", "path", "port", "socket", "file", "pid", "location", "directory", "uuid")


def _asked(run: Run) -> dict[str, str]:
    request: Mapping[str, Any] = run.facts["request"]
    told = {name: str(value) for name, value in request.items() if name not in NOT_SETTINGS}
    if request.get("prepare"):
        told["prepare"] = ", ".join(request["prepare"])
    return told | {f"{SET}{name}": str(value) for name, value in request["settings"].items()}


def _effective(run: Run) -> dict[str, str]:
    settings: Mapping[str, Any] = run.environment.get("engine", {}).get("settings") or {}
    return {
        name: str(value)
        for name, value in settings.items()
        if not any(word in name.lower() for word in OF_AN_INSTANCE)
    }
