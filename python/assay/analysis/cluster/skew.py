"""Measures how unevenly cluster nodes worked: the largest value divided by the mean.

The measure is load imbalance in parallel computing (DeRose, Homer and Johnson, Detecting
Application Load Imbalance on High End Massively Parallel Systems, Euro-Par 2007). If all nodes
wait for the slowest, its excess over the mean is the mean idle time of the nodes.
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

# Nodes count as skewed if the largest value is a quarter above the mean.
SKEW_MIN = 1.25
# Less CPU time or task time than this is start-up and statistics, too little to compare.
CPU_MIN_S, TASK_MIN_S = 0.05, 0.05
NODES_MIN = 2
CPU_TIME, TASK_TIME = "CPU time", "time of tasks"


@dataclass(frozen=True)
class Skew:
    """The skew of one measure over the working nodes of a cluster: largest value over mean.

    Attributes:
        measure: Name of the measure.
        node: Name of the node with the largest value.
        largest: Value of that node, in the unit of the measure.
        mean: Mean over all nodes that work.
        unit: `s`, `bytes` or `rows`.
        often: Share of executions in which this node had the largest value; 1 for a time span.
    """

    measure: str
    node: str
    largest: float
    mean: float
    unit: str
    often: float = 1.0

    @property
    def ratio(self) -> float:
        """The largest value over the mean: 1 if equal, the number of nodes if one node does all."""
        return self.largest / self.mean

    @property
    def is_skewed(self) -> bool:
        """True if the largest value exceeds the mean of all nodes by enough to be reported."""
        return self.ratio >= SKEW_MIN

    @property
    def idle_share(self) -> float:
        """The share of time (0 to 1) that an average node is idle while the slowest works."""
        return 1 - self.mean / self.largest

    def facts(self) -> dict[str, Any]:
        """Return the skew between nodes as JSON values."""
        return asdict(self) | {"ratio": self.ratio, "is_skewed": self.is_skewed}


def skews(line: Line, nodes: tuple[ClusterNode, ...]) -> tuple[Skew, ...]:
    """Return the skew of each measure over the working cluster nodes; empty for fewer than two.

    Measures that a node did not report are left out, as are times that are too short to compare.
    """
    workers = {node.name for node in nodes if node.works}
    working = [figures for figures in line.nodes if figures.name in workers]
    if len(working) < NODES_MIN:
        return ()
    compared = []
    for measure, unit, least, value_of in MEASURES:
        values = [(value_of(figures), figures.name) for figures in working]
        measured = [(value, name) for value, name in values if value is not None]
        if len(measured) < len(working):
            continue
        mean = sum(value for value, _ in measured) / len(measured)
        if mean > least:
            largest, node = max(measured, key=lambda pair: pair[0])
            compared.append(Skew(measure, node, largest, mean, unit))
    return tuple(compared)


def skews_over(lines: Sequence[Line], nodes: tuple[ClusterNode, ...]) -> tuple[Skew, ...]:
    """Return the skew of each measure over cluster nodes, from the execution with the median ratio.

    Each execution is compared separately, because a skew that alternates between nodes
    disappears in a mean. The named node is the one that most often has the largest value.
    """
    by_measure: dict[str, list[Skew]] = {}
    for line in lines:
        for skew in skews(line, nodes):
            by_measure.setdefault(skew.measure, []).append(skew)
    middles = []
    for executions in by_measure.values():
        middle = sorted(executions, key=lambda skew: skew.ratio)[(len(executions) - 1) // 2]
        ((node, count),) = Counter(skew.node for skew in executions).most_common(1)
        middles.append(replace(middle, node=node, often=count / len(executions)))
    return tuple(middles)


def _grown(word: str, scale: float = 1.0) -> Callable[[NodeFigures], float | None]:
    def growth(figures: NodeFigures) -> float | None:
        value = figures.grown.get(word)
        return None if value is None else value * scale

    return growth


# Title, unit, smallest value worth comparing, and a function that returns the value of a node.
MEASURES: tuple[tuple[str, str, float, Callable[[NodeFigures], float | None]], ...] = (
    (CPU_TIME, "s", CPU_MIN_S, lambda figures: figures.cpu_s),
    (TASK_TIME, "s", TASK_MIN_S, _grown(words.TASK, NS)),
    ("bytes got from others", "bytes", 0.0, _grown(words.BYTES)),
    ("rows got from others", "rows", 0.0, _grown(words.ROWS)),
    ("rows read", "rows", 0.0, _grown(words.READ_ROWS)),
)
