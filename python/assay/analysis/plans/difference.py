"""Compares two plans of one statement by structure, with the time that each change cost.

Operators are matched by the tables that they process, not by position. Two joins of the same
tables are the same step, whatever their method and inputs. So a change of method differs from a
change of order, and each matched step has a time on both sides.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.model.units import bytes_text, grouped_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.model.plan import Plan, PlanNode

PlanChangeKind = Literal[
    "join order",
    "join method",
    "access path",
    "index",
    "method",
    "operator",
    "parallelism",
    "spill",
    "compiling",
    "estimate",
]
# Changes of the plan's structure; the other kinds are changes in its execution.
STRUCTURAL: tuple[PlanChangeKind, ...] = (
    "join order",
    "join method",
    "access path",
    "index",
    "method",
    "operator",
    "parallelism",
)
# Changes of how tables are read. They often change the number of workers, so they are listed
# first.
OF_READING: tuple[PlanChangeKind, ...] = ("access path", "index")
READS = ("scan", "index scan", "bitmap scan")
JOINS = ("hash join", "merge join", "nested loop")
SORTS = ("sort", "top-n")
# Operators that depend on neighbouring operators, or that do not show how a statement is
# executed.
UNREMARKED = ("hash build", "projection", "result", "filter", "exchange", "subquery", "limit")
NO_CODE = "no code is generated for it, which took"
# If there are more tables, their number is shown instead of their names.
TABLES_NAMED = 4
# An estimate's error changed if it grew or shrank by this factor and was large on one side.
ESTIMATE_FACTOR = 4.0
ESTIMATE_MIN = 10.0
# A smaller spill may be a rounding by the engine.
SPILLED_BYTES_MIN = 1 << 16


@dataclass(frozen=True)
class Pair:
    """One step of two compared plans; a plan without the step has None.

    Attributes:
        before, after: The operators.
        before_s, after_s: Thread-seconds including all inputs; None if not timed, or without
            such a step.
    """

    before: PlanNode | None
    after: PlanNode | None
    before_s: float | None
    after_s: float | None


@dataclass(frozen=True)
class PlanChange:
    """One difference between two plans of a statement.

    Attributes:
        kind: Kind of change.
        says: Text on the change, such as `lineitem is read by scan, not by index scan of l_order`.
        before_s, after_s: Thread-seconds of the changed part. For a join order, parallelism and
            the whole plan they include all inputs. For a step they are its own time and that of
            its hash table; None if the plan has no such step, and for estimates, which take no
            time.
    """

    kind: PlanChangeKind
    says: str
    before_s: float | None = None
    after_s: float | None = None


@dataclass(frozen=True)
class PlanComparison:
    """The comparison of two plans of one statement.

    Attributes:
        before, after: The plans.
        pairs: Matched steps in the order of `after`, then the steps that only `before` has.
        changes: Structural changes first, each group with the largest difference in time first.
    """

    before: Plan
    after: Plan
    pairs: tuple[Pair, ...]
    changes: tuple[PlanChange, ...]

    @property
    def changed(self) -> bool:
        """True if the two compared plans execute the statement in a different way."""
        return any(change.kind in STRUCTURAL for change in self.changes)


@dataclass(frozen=True)
class _Step:
    """A plan operator with the tables that it processes.

    Attributes:
        role: Purpose of the operator, such as `read` or `join`.
        tables: The tables below the operator, each with its number of uses.
        node: The operator.
        seconds: Thread-seconds with all inputs; None if not timed.
        own_s: The operator's own thread-seconds, with the hash table that is built for it; None
            if not timed.
        sides: The tables of each input.
    """

    role: str
    tables: frozenset[tuple[str, int]]
    node: PlanNode
    seconds: float | None
    own_s: float | None
    sides: tuple[frozenset[tuple[str, int]], ...]


def compare_plans(before: Plan, after: Plan, *, same_engine: bool = True) -> PlanComparison:
    """Return the changes between two plans of a statement, and the time of each matched step.

    Args:
        before: The plan to compare with.
        after: The plan of the later run.
        same_engine: Whether both plans are of one engine, so that its own operator names are
            comparable.
    """
    olds, news = _steps(before.root), _steps(after.root)
    matched = _matched(olds, news)
    pairs = [
        Pair(
            None if old is None else old.node,
            None if new is None else new.node,
            None if old is None else old.seconds,
            None if new is None else new.seconds,
        )
        for old, new in matched
    ]
    changes = [
        *_of_joins(matched),
        *(
            change
            for old, new in matched
            if old and new
            for change in _of_pair(old, new, same_engine=same_engine)
        ),
        *(change for old, new in matched for change in _of_one(old, new)),
        *_of_whole(before, after, olds, news),
    ]
    return PlanComparison(before, after, tuple(pairs), tuple(_largest_first(changes)))


def _largest_first(changes: Sequence[PlanChange]) -> list[PlanChange]:
    """Return plan changes: structural ones by time difference, then changes in execution."""
    reads_otherwise = any(change.kind in OF_READING for change in changes)

    def weight(change: PlanChange) -> tuple[bool, bool, float]:
        # A step that only one plan has counts with all of its time.
        difference = (change.after_s or 0.0) - (change.before_s or 0.0)
        follows = reads_otherwise and change.kind == "parallelism"
        return change.kind not in STRUCTURAL, follows, -abs(difference)

    return sorted(changes, key=weight)


def _steps(node: PlanNode) -> list[_Step]:
    """Return the operators of a plan with their tables, parents first."""
    steps: list[_Step] = []

    def visit(node: PlanNode) -> tuple[Counter[str], float | None]:
        place = len(steps)
        steps.append(_Step("", frozenset(), node, None, None, ()))
        below = [visit(child) for child in node.children]
        tables: Counter[str] = Counter()
        for counted, _ in below[:1] if node.operator == "cte" else below:
            tables.update(counted)
        if node.object is not None and (node.operator in READS or _is_cte_scan(node)):
            tables[node.object] += 1
        seconds = _sum([node.seconds, *(seconds for _, seconds in below)])
        sides = tuple(frozenset(counted.items()) for counted, _ in below)
        own_s = _own_s(node)
        steps[place] = _Step(_role(node), frozenset(tables.items()), node, seconds, own_s, sides)
        return Counter() if _is_beside(node) else tables, seconds

    visit(node)
    return steps


def _own_s(node: PlanNode) -> float | None:
    builds = (child.seconds for child in node.children if child.operator == "hash build")
    return _sum([node.seconds, *builds])


def _sum(seconds: Sequence[float | None]) -> float | None:
    numbers = [number for number in seconds if number is not None]
    return sum(numbers) if numbers else None


def _is_cte_scan(node: PlanNode) -> bool:
    return node.operator == "cte" and not node.children


def _is_beside(node: PlanNode) -> bool:
    """Return True if a plan node's child is a subplan that does not feed the operator above."""
    return node.operator == "subquery" or (node.operator == "cte" and len(node.children) == 1)


def _role(node: PlanNode) -> str:
    """Return the purpose of a plan operator, such as `read` or `join`, whatever its method."""
    if node.operator in READS:
        # A bitmap is built by an index scan below the scan of its table.
        return "read" if node.object is not None else "bitmap"
    if node.operator in JOINS:
        return "join"
    return "sort" if node.operator in SORTS else node.operator


def _matched(
    olds: Sequence[_Step], news: Sequence[_Step]
) -> list[tuple[_Step | None, _Step | None]]:
    """Return pairs of operators with equal purpose and tables, the most similar first."""
    left: dict[tuple[str, frozenset[tuple[str, int]]], list[_Step]] = {}
    for old in olds:
        left.setdefault((old.role, old.tables), []).append(old)
    chosen: dict[int, _Step] = {}
    for alike in (_same_step, _same_condition, _same_place):
        for new in news:
            rest = left.get((new.role, new.tables), [])
            partner = next((old for old in rest if alike(old, new)), None)
            if id(new) not in chosen and partner is not None:
                chosen[id(new)] = partner
                rest.remove(partner)
    gone = [step for steps in left.values() for step in steps]
    order = {id(step): place for place, step in enumerate(olds)}
    matched: list[tuple[_Step | None, _Step | None]] = [(chosen.get(id(new)), new) for new in news]
    matched += [(old, None) for old in sorted(gone, key=lambda step: order[id(step)])]
    return matched


def _same_step(old: _Step, new: _Step) -> bool:
    return old.node.native == new.node.native and _same_condition(old, new)


def _same_condition(old: _Step, new: _Step) -> bool:
    return old.node.condition == new.node.condition and old.node.index == new.node.index


def _same_place(_old: _Step, _new: _Step) -> bool:
    return True


def _of_joins(matched: Sequence[tuple[_Step | None, _Step | None]]) -> Iterator[PlanChange]:
    """Yield differences in joins: sets of tables that only one of two plans joins."""
    gone = [old for old, new in matched if old and new is None and old.role == "join"]
    come = [new for old, new in matched if new and old is None and new.role == "join"]
    if not gone and not come:
        return
    now, then = _smallest_first(come), _smallest_first(gone)
    phrases = [f"{_joined(now)}" if now else "", f"no longer {_joined(then)}" if then else ""]
    before_s, after_s = _longest(gone), _longest(come)
    yield PlanChange("join order", "; ".join(word for word in phrases if word), before_s, after_s)


def _smallest_first(steps: Sequence[_Step]) -> list[_Step]:
    return sorted(steps, key=lambda step: sum(count for _, count in step.tables))


def _joined(steps: Sequence[_Step]) -> str:
    return ", then ".join(_tables_text(step.tables) for step in steps) + " joined"


def _longest(steps: Sequence[_Step]) -> float | None:
    durations = [step.seconds for step in steps if step.seconds is not None]
    return max(durations) if durations else None


def _of_pair(old: _Step, new: _Step, *, same_engine: bool) -> Iterator[PlanChange]:
    """Yield the differences of one plan step between two plans that both contain it.

    Steps below have changes of their own, so their time is not counted again.
    """
    ways = _of_way(old, new, same_engine=same_engine)
    for kind, says in (*ways, *_of_figures(old.node, new.node)):
        if kind == "estimate":
            yield PlanChange(kind, says)
        elif kind == "parallelism":
            yield PlanChange(kind, says, old.seconds, new.seconds)
        else:
            yield PlanChange(kind, says, old.own_s, new.own_s)


def _of_way(old: _Step, new: _Step, *, same_engine: bool) -> Iterator[tuple[PlanChangeKind, str]]:
    was, now = old.node, new.node
    if new.role == "read":
        if was.operator != now.operator:
            yield "access path", f"{now.object} is read by {_way(now)}, not by {_way(was)}"
        elif was.index != now.index:
            yield "index", f"{now.object} is read by {_way(now)}, not by {_way(was)}"
    elif new.role == "bitmap" and was.index != now.index:
        yield "index", f"the bitmap is of {now.index}, not of {was.index}"
    elif new.role == "join":
        tables = _tables_text(new.tables)
        if was.operator != now.operator:
            yield "join method", f"{tables}: {now.operator}, not {was.operator}"
        elif len(new.sides) > 1 and old.sides[:2] == new.sides[1::-1] != new.sides[:2]:
            builds = _tables_text(new.sides[1])
            yield "join order", f"{tables}: the sides are swapped, {builds} is the inner one"
    elif new.role not in UNREMARKED and not same_way(was, now, same_engine=same_engine):
        names = (now.native, was.native) if same_engine else (now.operator, was.operator)
        yield "method", f"{_tables_text(new.tables)}: {names[0]}, not {names[1]}"
    if was.operator == "exchange" and was.workers != now.workers:
        yield "parallelism", f"{_count(now.workers)} workers, not {_count(was.workers)}"


def same_way(was: PlanNode, now: PlanNode, *, same_engine: bool) -> bool:
    """Return True if two operators are equal: by name, or across engines by kind."""
    return was.native == now.native if same_engine else was.operator == now.operator


def _of_figures(was: PlanNode, now: PlanNode) -> Iterator[tuple[PlanChangeKind, str]]:
    spilled, spills = was.spilled_bytes or 0, now.spilled_bytes or 0
    if max(spilled, spills) >= SPILLED_BYTES_MIN and not _near(spilled, spills):
        yield "spill", f"{_named(now)} spills {bytes_text(spills)}, not {bytes_text(spilled)}"
    error, errs = was.q_error, now.q_error
    if now.operator in UNREMARKED:
        return
    if error is not None and errs is not None and max(error, errs) >= ESTIMATE_MIN:
        factor = max(error / errs, errs / error)
        if factor >= ESTIMATE_FACTOR:
            says = f"rows of {_named(now)} are off by {_factor(errs)}, not by {_factor(error)}"
            yield "estimate", says


def _near(left: float, right: float) -> bool:
    return min(left, right) * 2 > max(left, right)


def _of_one(old: _Step | None, new: _Step | None) -> Iterator[PlanChange]:
    """Yield a change for a relevant step that only one of the two plans has."""
    step = new or old
    if step is None or (old is not None and new is not None):
        return
    if step.role in UNREMARKED or step.role in {"join", "bitmap"}:
        return
    says = f"{_named(step.node)} of {_tables_text(step.tables)}"
    if new is not None:
        yield PlanChange("operator", f"{says} is new", None, new.own_s)
    elif old is not None:
        yield PlanChange("operator", f"{says} is gone", old.own_s, None)


def _of_whole(
    before: Plan, after: Plan, olds: Sequence[_Step], news: Sequence[_Step]
) -> Iterator[PlanChange]:
    """Yield the differences of two plans as a whole, such as compilation."""
    times = (before.seconds, after.seconds)
    was, now = _exchanges(olds), _exchanges(news)
    if bool(was) != bool(now):
        says = f"it is executed by {now} workers more than one" if now else "it is not parallel now"
        yield PlanChange("parallelism", says, *times)
    if bool(before.compiling_s) != bool(after.compiling_s):
        took = seconds_text(after.compiling_s or before.compiling_s)
        does = "code is generated for it, in" if after.compiling_s else NO_CODE
        says = f"{does} {took}"
        yield PlanChange("compiling", says, before.compiling_s, after.compiling_s)
    spills_by_step = any(step.node.spilled_bytes is not None for step in (*olds, *news))
    spilled, spills = before.spilled_bytes or 0, after.spilled_bytes or 0
    if (
        not spills_by_step
        and max(spilled, spills) >= SPILLED_BYTES_MIN
        and not _near(spilled, spills)
    ):
        says = f"it spills {bytes_text(spills)}, not {bytes_text(spilled)}"
        yield PlanChange("spill", says, *times)


def _exchanges(steps: Sequence[_Step]) -> int:
    return sum(step.node.workers or 0 for step in steps if step.node.operator == "exchange")


def _named(node: PlanNode) -> str:
    return f"{node.native} {node.object}" if node.object else node.native


def _way(node: PlanNode) -> str:
    """Return text on how a table is read, with the indexes that find its rows."""
    indexes = [node.index] if node.index else []
    if node.operator == "bitmap scan":
        indexes = [below.index for below in node.walk() if below.index]
    return f"{node.operator} of {' and '.join(indexes)}" if indexes else node.operator


def _count(number: int | None) -> str:
    return "an unknown number of" if number is None else str(number)


def _factor(error: float) -> str:
    return f"{grouped_text(error)}x"


def _tables_text(tables: frozenset[tuple[str, int]]) -> str:
    """Return tables as the text of a join: `customer x orders x nation (2)`, or their number."""
    if len(tables) > TABLES_NAMED:
        return f"{sum(count for _, count in tables)} tables"
    named = [name if count == 1 else f"{name} ({count})" for name, count in sorted(tables)]
    return " x ".join(named) or "no table"
