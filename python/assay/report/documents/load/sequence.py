"""Query mixes that clients execute in order, in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict


class SequenceMetric(TypedDict):
    """One figure that the specification names."""

    name: str
    """Name of the figure, such as QMpH."""
    value: float
    about: str
    """Formula of the figure in words."""


class SequenceQuery(TypedDict):
    """One operation of the mix."""

    name: str
    title: str
    executions: int
    """Number of executions in complete mixes."""
    cut_off: int
    """Number of executions that were stopped at the time limit; each counts with that limit."""
    mean_s: float
    geometric_mean_s: float
    min_s: float
    max_s: float
    share: float
    """Share of the time of all operations."""


class SequenceSection(TypedDict):
    """Mixes in the terms of their specification."""

    clients: int
    size: float
    """Size of the data for the name of the result, counted in `size_name`."""
    size_name: str
    """Unit of the size, such as triples; the name of the scale if none were loaded."""
    mixes: int
    """Number of complete mixes."""
    operations_s: float
    """Total time of operations in complete mixes."""
    wall_s: float
    """Elapsed time from the first start to the last end."""
    metrics: list[SequenceMetric]
    """Figures that the specification names, the rate first."""
    query_time: str
    """The specification's name for the mean time of an operation; empty without one."""
    queries: list[SequenceQuery]
    """Each operation, in the order of the mix."""
