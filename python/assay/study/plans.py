"""Makes the study that measures forced plans of an operation beside the chosen plan.

Plans are forced by switching techniques off, and by join orders. Of several identical plans, one is
kept. All plans are operations of one run, so conditions are equal for all of them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, zip_longest
from typing import TYPE_CHECKING, Any

from assay.analysis.plans.recorded import read_plans
from assay.analysis.plans.regret import CHOSEN, NEIGHBOUR, ORDER, SWITCHES, seconds_by_name
from assay.analysis.plans.shape import join_order, shape
from assay.engines.techniques import forced
from assay.model.errors import UsageError
from assay.record.studies import StudyFigure
from assay.study.variants import Part, Study, Variant
from assay.workloads.join_orders import (
    columns_of,
    drawn_left_deep,
    largest_block,
    leaves,
    neighbours,
    order_text,
    ordered,
    swapped,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from assay.record.reader import Run
    from assay.running.asked.asked_run import Asked
    from assay.running.asked.request import RunRequest
    from assay.workloads.join_orders import JoinBlock, Order

PART_CHOSEN, PART_NEAR, PART_ONCE, PART_ROUNDS = "chosen", "near", "once", "rounds"
KIND = "plans"
# Number of ways planned without execution for each wanted plan, because many give the same plan.
ASKED_EACH = 4
# Minimum limit in seconds; a smaller one is below the resolution of the driver's timeout.
LIMIT_MIN_S = 0.25


@dataclass(frozen=True)
class Way:
    """One way to force a plan of a query, such as disabling a technique.

    Attributes:
        kind: `chosen`, `switches`, `neighbour` or `order`.
        action: Short description of the way.
        sql: Text of the operation, including statements before and after it.
    """

    kind: str
    action: str
    sql: str

    def facts(self) -> dict[str, str]:
        """Return the way to force a plan as a request stores it."""
        return {"kind": self.kind, "words": self.action, "sql": self.sql}

    @classmethod
    def read(cls, facts: Mapping[str, str]) -> Way:
        """Return the way to force a plan from its JSON values."""
        return cls(facts["kind"], facts["words"], facts["sql"])


@dataclass(frozen=True)
class Forcing:
    """The number of forced plans to time, and the rules of timing.

    Attributes:
        most: Maximum number of plans, including the optimiser's plan.
        rounds: Number of timings of each plan.
        cut_off: A plan that takes this many times as long as the chosen one is cancelled.
    """

    most: int
    rounds: int
    cut_off: float


class Ways:
    """Finds ways to force plans of one operation.

    Args:
        asked: Request of a run of only this operation.

    Raises:
        UsageError: If no plan can be forced for this operation or engine.
    """

    def __init__(self, asked: Asked) -> None:
        self._folder = asked.engine.folder
        self._facts = asked.engine.techniques()
        self.title = asked.engine.facts.title
        if self._facts.forcing is None:
            raise UsageError(
                f"--engine: {self.title} cannot change settings for a single statement"
            )
        (operation,) = asked.script.operations
        if len(operation.statements) != 1 or operation.draws:
            raise UsageError(
                f"--operation {operation.name}: the operation has several queries or random "
                "parameter values"
            )
        self.operation = operation.name
        self._sql = operation.statements[0].text
        self._dialects = asked.dialects
        self._columns = columns_of(asked.workload.setup((), asked.request.scale).values())
        self._seed = asked.request.seed

    @cached_property
    def block(self) -> JoinBlock | None:
        """Return the joined tables of the query; None if no join order can be forced."""
        if self._facts.orders is None:
            return None
        try:
            return largest_block(self._sql, self._dialects, self._columns)
        except ValueError as error:
            raise UsageError(f"--operation {self.operation}: {error}") from error

    def chosen(self) -> Way:
        """Return the plan that the engine chooses, as a way without forcing."""
        return self._way(CHOSEN, "as the engine chose it", self._sql, {})

    def switched(self, most: int) -> list[Way]:
        """Return ways with one planner technique disabled, then with random pairs disabled."""
        names = [name for name, technique in self._facts.techniques.items() if technique.plans]
        pairs = list(combinations(names, 2))
        drawn = self._source().sample(pairs, min(len(pairs), max(0, most - len(names))))
        return [self._off(which) for which in [*((name,) for name in names), *drawn]]

    def drawn(self, most: int) -> list[Way]:
        """Return distinct random left-deep join orders, as ways to force plans."""
        if self.block is None:
            return []
        source = self._source()
        orders = dict.fromkeys(drawn_left_deep(self.block, source) for _ in range(most))
        return [self._in_order(ORDER, order) for order in orders]

    def near(self, order: Order) -> list[Way]:
        """Return the chosen join order, forced, and orders that differ by one step."""
        assert self.block is not None  # noqa: S101 - it has an order
        assert self._facts.orders is not None  # noqa: S101
        others = (
            neighbours(self.block, order)
            if self._facts.orders.nested
            else swapped(self.block, leaves(order))
        )
        return [self._in_order(NEIGHBOUR, near_order) for near_order in (order, *others)]

    def _source(self) -> random.Random:
        return random.Random(self._seed)  # noqa: S311 - plans, not secrets

    def _off(self, names: Sequence[str]) -> Way:
        label = f"without {' and '.join(names)}"
        return self._way(SWITCHES, label, self._sql, self._facts.settings_without(names))

    def _in_order(self, kind: str, order: Order) -> Way:
        assert self._facts.orders is not None  # noqa: S101 - there is a block
        orders = self._facts.orders
        sql = ordered(self._sql, self._dialects, order, orders.join)
        return self._way(kind, f"order {order_text(order)}", sql, orders.settings)

    def _way(self, kind: str, label: str, sql: str, settings: Mapping[str, str]) -> Way:
        return Way(kind, label, forced(self._facts, self._folder, sql, settings))


@dataclass(frozen=True)
class Search:
    """The sections of a study of forced plans, each planned from earlier runs.

    Each part follows from the records of the previous ones.

    Attributes:
        base: Request of a run of only this operation.
        ways: Ways to force plans.
        forcing: Number of plans, and how they are timed.
    """

    base: RunRequest
    ways: Ways
    forcing: Forcing

    def study(self, runs: Mapping[str, Run]) -> Study:
        """Return all sections of the study of plans that the existing runs allow."""
        parts = [self._chosen()]
        if PART_CHOSEN in runs:
            near = self._near(runs[PART_CHOSEN])
            parts += [near] if near is not None else []
            if near is None or PART_NEAR in runs:
                parts.append(self._once(runs))
        if PART_ONCE in runs:
            parts.append(self._rounds(runs[PART_ONCE]))
        operation, engine = self.ways.operation, self.ways.title
        question = (
            f"Is the plan that {engine} chooses for {operation} of {self.base.workload} the fastest"
            " that it has, and does its estimate know which one is?"
        )
        figure = StudyFigure("regret", tuple(part.name for part in parts), KIND, "Plans", {})
        title = f"Plans of {operation}"
        return Study(question, tuple(parts), self.base.seed, title, (figure,))

    @property
    def _asked(self) -> int:
        return ASKED_EACH * self.forcing.most

    def _chosen(self) -> Part:
        ways = [
            self.ways.chosen(),
            *self.ways.switched(self._asked),
            *self.ways.drawn(self._asked),
        ]
        request = self._request(_named(self.ways.operation, 0, ways), plans_executed=False)
        return _part(PART_CHOSEN, "The chosen plan is timed, other ways are planned.", request)

    def _near(self, chosen: Run) -> Part | None:
        """Return the section with join orders near the chosen plan's; None if unknown."""
        block = self.ways.block
        plans = read_plans(chosen).get(_name(self.ways.operation, 0), ())
        order = join_order(plans[0], block.tables) if block is not None and plans else None
        if order is None:
            return None
        ways = _named(
            self.ways.operation, len(chosen.facts["request"]["forced"]), self.ways.near(order)
        )
        first = {_name(self.ways.operation, 0): self.ways.chosen()}
        request = self._request({**first, **ways}, plans_executed=False)
        return _part(PART_NEAR, "Orders of joins near the chosen plan's are planned.", request)

    def _once(self, runs: Mapping[str, Run]) -> Part:
        planned = [runs[name] for name in (PART_CHOSEN, PART_NEAR) if name in runs]
        distinct = distinct_plans(planned, self.forcing.most)
        chosen_s = seconds_by_name(runs[PART_CHOSEN]).get(_name(self.ways.operation, 0))
        if chosen_s is None:
            raise UsageError(
                f"the plan that the optimiser chose for {self.ways.operation} failed: its run "
                "has the error"
            )
        request = self._request(distinct, rounds=1, plans=False)
        limit_s = max(LIMIT_MIN_S, self.forcing.cut_off * chosen_s)
        request = request.changed(operation_deadline_s=round(limit_s, 3))
        return _part(PART_ONCE, "Every plan once; those that take too long are cancelled.", request)

    def _rounds(self, once: Run) -> Part:
        """Return the section that times the plans which ended within the limit."""
        seconds = seconds_by_name(once)
        once_request = once.facts["request"]
        ways = {
            name: Way.read(facts)
            for name, facts in once_request["forced"].items()
            if name in seconds
        }
        first = _name(self.ways.operation, 0)
        ways = {first: self.ways.chosen(), **ways}
        request = self._request(ways, rounds=self.forcing.rounds)
        request = request.changed(operation_deadline_s=2 * once_request["operation_deadline_s"])
        return _part(PART_ROUNDS, "The others in turns.", request)

    def _request(self, ways: Mapping[str, Way], **changed: Any) -> RunRequest:  # noqa: ANN401
        texts = {name: way.facts() for name, way in ways.items()}
        return self.base.changed(forced=texts, **changed)


def distinct_plans(planned: Sequence[Run], most: int) -> dict[str, Way]:
    """Return the ways to force plans of different shape, the chosen one first.

    Args:
        planned: Runs in which ways were planned.
        most: Maximum number of plans.
    """
    seen: set[str] = set()
    by_kind: dict[str, list[tuple[str, Way]]] = {}
    for run in planned:
        plans = read_plans(run)
        for name, facts in run.facts["request"]["forced"].items():
            shapes = "; ".join(shape(plan) for plan in plans.get(name, ()))
            if shapes and shapes not in seen:
                seen.add(shapes)
                by_kind.setdefault(facts["kind"], []).append((name, Way.read(facts)))
    return dict(list(_in_turns(by_kind))[:most])


def _in_turns(by_kind: Mapping[str, Iterable[tuple[str, Way]]]) -> Iterator[tuple[str, Way]]:
    for turn in zip_longest(*by_kind.values()):
        yield from (named_way for named_way in turn if named_way is not None)


def _named(operation: str, begin: int, ways: Iterable[Way]) -> dict[str, Way]:
    return {_name(operation, number): way for number, way in enumerate(ways, begin)}


def _name(operation: str, number: int) -> str:
    return f"{operation}@{number}"


def _part(name: str, about: str, request: RunRequest) -> Part:
    return Part(name, (Variant(request.engine, request),), 1, about)
