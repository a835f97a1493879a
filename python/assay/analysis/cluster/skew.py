"""How unevenly nodes worked: the largest over the mean, and whose it was.

The measure is that of load imbalance in parallel computing (DeRose, Homer and Johnson, Detecting
Application Load Imbalance on High End Massively Parallel Systems, Euro-Par 2007): what the largest
has above the mean is what the others stand idle for, if all wait for it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.analysis.cluster import words
from assay.analysis.operations import NS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.analysis.cluster.line import Line, NodeFigures
    from assay.analysis.cluster.nodes import ClusterNode

# From here on nodes are called skewed: one does a quarter more than the mean of all.
SKEW_MIN = 1.25
# Less CPU time than this is start-up and statistics, however it is spread.
CPU_MIN_S, TASK_MIN_S = 0.05, 0.05
NODES_MIN = 2
CPU_TIME, TASK_TIME = "CPU time", "time of tasks"


@dataclass(frozen=True)
class Skew:
    """One measure over the nodes that work.

    Attributes:
        measure: In words.
        node: The one with most of it.
        largest: What that one has, in the measure's unit.
        mean: Of all that work.
        unit: `s`, `bytes` or `rows`.
        often: In which share of executions it was that node; 1 of a span.
    """

    measure: str
    node: str
    largest: float
    mean: float
    unit: str
    often: float = 1.0

    @property
    def ratio(self) -> float:
        """Largest over mean: 1 where all do the same, the number of nodes where one does all."""
        return self.largest / self.mean

    @property
    def is_skewed(self) -> bool:
        """Whether it is worth a word."""
        return self.ratio >= SKEW_MIN

    @property
    def idle_share(self) -> float:
        """The part of the largest's time that the mean of all stands idle, if all wait for it."""
        return 1 - self.mean / self.largest

    def facts(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self) | {"ratio": self.ratio, "is_skewed": self.is_skewed}


def skews(line: Line, nodes: tuple[ClusterNode, ...]) -> tuple[Skew, ...]:
    """What can be compared of the nodes that work, coordinators left out; empty of fewer than two.

    A measure that a node did not tell is left out, and so is CPU time too short to mean anything.
    """
    workers = {node.name for node in nodes if node.works}
    each = [one for one in line.nodes if one.name in workers]
    if len(each) < NODES_MIN:
        return ()
    found = []
    for measure, unit, least, known in MEASURES:
        values = [(known(one), one.name) for one in each]
        told = [(value, name) for value, name in values if value is not None]
        if len(told) < len(each):
            continue
        mean = sum(value for value, _ in told) / len(told)
        if mean > least:
            largest, node = max(told, key=lambda one: one[0])
            found.append(Skew(measure, node, largest, mean, unit))
    return tuple(found)


def skews_over(lines: Sequence[Line], nodes: tuple[ClusterNode, ...]) -> tuple[Skew, ...]:
    """The same over executions of one operation: of each measure the execution of the middle ratio.

    Each is compared by itself, for what one node has more of now and another then is even in a
    mean and uneven all the same. The node is the one that it was most often.
    """
    found: dict[str, list[Skew]] = {}
    for line in lines:
        for one in skews(line, nodes):
            found.setdefault(one.measure, []).append(one)
    told = []
    for each in found.values():
        middle = sorted(each, key=lambda one: one.ratio)[(len(each) - 1) // 2]
        ((node, count),) = Counter(one.node for one in each).most_common(1)
        told.append(replace(middle, node=node, often=count / len(each)))
    return tuple(told)


def _grown(word: str, scale: float = 1.0) -> Callable[[NodeFigures], float | None]:
    def known(one: NodeFigures) -> float | None:
        value = one.grown.get(word)
        return None if value is None else value * scale

    return known


# In words, unit, what is too little to compare, and how it is known of a node.
MEASURES: tuple[tuple[str, str, float, Callable[[NodeFigures], float | None]], ...] = (
    (CPU_TIME, "s", CPU_MIN_S, lambda one: one.cpu_s),
    (TASK_TIME, "s", TASK_MIN_S, _grown(words.TASK, NS)),
    ("bytes got from others", "bytes", 0.0, _grown(words.BYTES)),
    ("rows got from others", "rows", 0.0, _grown(words.ROWS)),
    ("rows read", "rows", 0.0, _grown(words.READ_ROWS)),
)
