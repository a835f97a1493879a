"""Computes each plan node's own time and blocks, without those of its children.

Times are averages over loops, and over the processes below a Gather. An InitPlan is listed below
its owner but executed inside the first node that needs its value; a CTE is executed inside its
scans.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Node = dict[str, Any]
    # Functions for a node including all nodes below: total time, and time of the calling process.
    Whole = Callable[[Node], float]

GATHERS = ("Gather", "Gather Merge")
INIT_PLAN = "InitPlan"
MS_PER_S = 1000.0
_CTE = re.compile(r"^CTE (.+)$")
_INIT = re.compile(r"^(InitPlan \d+)(?: \(returns (.+)\))?$")


@dataclass(frozen=True)
class Spent:
    """The time and blocks of one plan node without its children; None if not reported.

    Attributes:
        seconds: Time summed over threads.
        blocks: Number of blocks by counter name.
    """

    seconds: float | None
    blocks: dict[str, int]


COUNTERS = (
    "Shared Hit Blocks",
    "Shared Read Blocks",
    "Local Hit Blocks",
    "Local Read Blocks",
    "Temp Read Blocks",
    "Temp Written Blocks",
)


def spent(root: Node) -> dict[int, Spent]:
    """Return each plan node's own time and blocks, by the `id` of its object."""
    owned = [(owner, plan) for owner in walk(root) for plan in inputs(owner) if is_init(plan)]
    payers = {id(plan): _payers(owner, plan) for owner, plan in owned}
    timed = "Actual Total Time" in root
    seconds = _own(root, payers, thread_seconds, asked_seconds) if timed else {}
    counted = [name for name in COUNTERS if name in root]
    blocks = {name: _own(root, payers, _counter(name), _counter(name)) for name in counted}
    return {
        id(node): Spent(
            seconds.get(id(node)), {name: round(of[id(node)]) for name, of in blocks.items()}
        )
        for node in walk(root)
    }


def walk(node: Node) -> Iterator[Node]:
    """Yield a plan node and all nodes below it, parents first."""
    yield node
    for child in inputs(node):
        yield from walk(child)


def inputs(node: Node) -> list[Node]:
    """Return a plan node's children, including plans of subqueries."""
    below: list[Node] = node.get("Plans", [])
    return below


def is_init(node: Node) -> bool:
    """Return True if a plan node is executed elsewhere than in its parent."""
    return node.get("Parent Relationship") == INIT_PLAN


def thread_seconds(node: Node) -> float:
    """Return the seconds in a plan node and below, summed over all processes."""
    if "Actual Total Time" not in node:
        return 0.0
    return float(node["Actual Total Time"]) * float(node["Actual Loops"]) / MS_PER_S


def asked_seconds(node: Node) -> float:
    """Return the seconds of a plan node in the process that runs the Gather above."""
    whole = thread_seconds(node)
    workers = node.get("Workers")
    if workers is not None:
        return max(0.0, whole - sum(thread_seconds(worker) for worker in workers))
    return whole / max(1.0, float(node.get("Actual Loops", 1)))


def _counter(name: str) -> Whole:
    return lambda node: float(node.get(name, 0))


def _own(root: Node, payers: dict[int, list[Node]], whole: Whole, asked: Whole) -> dict[int, float]:
    """Return each plan node's own amount: its total minus its children's."""
    own = {}
    for node in walk(root):
        below = asked if node["Node Type"] in GATHERS else whole
        own[id(node)] = whole(node) - sum(below(c) for c in inputs(node) if not is_init(c))
    for owner in walk(root):
        for plan in inputs(owner):
            if is_init(plan):
                _move(own, whole(plan), payers[id(plan)], owner)
    # Times are rounded to microseconds or more, so differences can be slightly negative.
    return {key: max(0.0, value) for key, value in own.items()}


def _move(own: dict[int, float], amount: float, payers: list[Node], owner: Node) -> None:
    """Subtract an InitPlan's time from the plan nodes in which it was executed."""
    for payer in sorted(payers, key=lambda node: -own[id(node)]):
        taken = min(amount, max(0.0, own[id(payer)]))
        own[id(payer)] -= taken
        amount -= taken
    own[id(owner)] -= amount


def _payers(owner: Node, plan: Node) -> list[Node]:
    """Return the plan nodes whose time includes an InitPlan or CTE, because they refer to it."""
    name = plan.get("Subplan Name", "")
    within = {id(node) for node in walk(plan)}
    others = [node for node in walk(owner) if id(node) not in within]
    if cte := _CTE.match(name):
        return [node for node in others if node.get("CTE Name") == cte[1]]
    if init := _INIT.match(name):
        patterns = [re.escape(init[1]) + r"\b"]
        patterns += [
            re.escape(text.strip()) + r"(?!\d)" for text in (init[2] or "").split(",") if text
        ]
        wanted = re.compile("|".join(patterns))
        return [node for node in others if any(wanted.search(text) for text in _texts(node))]
    return []


def _texts(node: Node) -> Iterator[str]:
    """Yield a plan node's expressions: conditions, keys, output."""
    for key, value in node.items():
        if key == "Subplan Name":
            continue
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (text for text in value if isinstance(text, str))
