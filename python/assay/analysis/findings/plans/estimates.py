"""Finds row estimates that were too small, and operators that were chosen because of them.

An optimiser that expects few rows joins row by row, and gives a sort or a hash too little memory.
Only an underestimate with a known effect is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.findings.plans.plan_time import Timed, timed_nodes

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.plan import PlanNode

# The optimiser makes the same choices for estimates with a smaller error factor.
Q_ERROR_MIN = 10.0
# With fewer rows, any plan is fast.
ROWS_MIN = 100
# Operator that is chosen for few rows, by its name in plans.
LOOP = "nested loop"
# Operators that hold rows: they spill if there are more rows than their memory was planned for.
HOLDERS = ("sort", "hash build", "hash join", "aggregate", "window")


@dataclass(frozen=True)
class Hurt:
    """A wrong row estimate and the operators that it made slow.

    Attributes:
        origin: Lowest operator with the wrong estimate. The estimates of operators below it were
            right.
        victims: Operators that the optimiser chose for fewer rows, with their shares of the time.
        partners: Other operators with a wrong estimate, under the other input of the same join.
    """

    origin: Timed
    victims: tuple[Timed, ...]
    partners: tuple[Timed, ...] = ()

    @property
    def fraction(self) -> float:
        """The time share of the operators that a wrong row estimate made slow."""
        return min(1.0, sum(victim.fraction or 0.0 for victim in self.victims))

    @property
    def excess(self) -> float:
        """The share of a plan node's actual rows that the estimate did not expect."""
        expected, seen = self.origin.node.estimated_rows or 0.0, self.origin.node.rows or 1.0
        return max(0.0, 1.0 - max(expected, 1.0) / max(seen, 1.0))


def hurts(case: Case) -> list[Hurt]:
    """Return the wrong row estimate of each operation that cost the most time."""
    nodes = timed_nodes(case)
    most: dict[str, Hurt] = {}
    for timed in nodes:
        if not _is_origin(timed.node):
            continue
        victims = tuple(
            other for other in nodes if other.plan is timed.plan and _is_victim(other, timed)
        )
        partners = tuple(other for other in nodes if _is_partner(other, timed, victims))
        hurt = Hurt(timed, victims, partners)
        largest = most.get(timed.operation)
        if hurt.fraction > 0 and (largest is None or hurt.fraction > largest.fraction):
            most[timed.operation] = hurt
    return list(most.values())


def _is_origin(node: PlanNode) -> bool:
    return _is_underestimated(node) and not any(map(_is_underestimated, node.children))


def _is_underestimated(node: PlanNode) -> bool:
    if node.estimated_rows is None or node.rows is None or node.rows < ROWS_MIN:
        return False
    return node.rows > node.estimated_rows and (node.q_error or 0.0) >= Q_ERROR_MIN


def _is_victim(timed: Timed, origin: Timed) -> bool:
    """Return True if an operator got more rows than planned because of a wrong estimate."""
    if any(timed.node is above for above in origin.above):
        spilled = timed.node.operator in HOLDERS and (timed.node.spilled_bytes or 0) > 0
        return spilled or _is_outer_of(origin, timed.node)
    # Operators on the inner side of a nested loop were to be executed for few outer rows.
    loops = [above for above in timed.above if _is_outer_of(origin, above)]
    return any(_is_within(loop.children[1], timed) for loop in loops)


def _is_outer_of(origin: Timed, loop: PlanNode) -> bool:
    """Return True if a plan node determines how often a nested loop's inner side is executed."""
    if loop.operator != LOOP or len(loop.children) < 2:  # noqa: PLR2004 - two sides
        return False
    outer = loop.children[0]
    return outer is origin.node or any(outer is above for above in origin.above)


def _is_partner(timed: Timed, origin: Timed, victims: tuple[Timed, ...]) -> bool:
    """Return True if an operator has a wrong estimate in the same nested loop or slow join."""
    if timed.plan is not origin.plan or not _is_origin(timed.node):
        return False
    if any(
        one.node is node for one, two in ((timed, origin), (origin, timed)) for node in two.above
    ):
        return False
    common = [node for node in timed.above if any(node is above for above in origin.above)]
    join = common[-1] if common and timed.node is not origin.node else None
    if join is None:
        return False
    return join.operator == LOOP or any(victim.node is join for victim in victims)


def reader_of(timed: Timed) -> PlanNode | None:
    """Return the plan node that names the table: for an index search, its parent."""
    below = (timed.node, *reversed(timed.above[-1:]))
    return next((node for node in below if node.object is not None), None)


def _is_within(root: PlanNode, timed: Timed) -> bool:
    return timed.node is root or any(root is above for above in timed.above)
