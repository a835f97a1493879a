"""Types of a run's document on query mixes that clients execute in order."""

from __future__ import annotations

from typing_extensions import TypedDict


class SequenceMetric(TypedDict):
    """A metric of query mixes that a benchmark specification names."""

    name: str
    """Name of the specified figure, such as QMpH."""
    value: float
    about: str
    """Formula of the specified figure in words."""


class SequenceQuery(TypedDict):
    """The times of one query of a query mix."""

    name: str
    title: str
    executions: int
    """Number of the operation's executions in complete mixes."""
    cut_off: int
    """Number of executions that were stopped at the time limit. The limit counts as their time."""
    mean_s: float
    geometric_mean_s: float
    min_s: float
    max_s: float
    share: float
    """The operation's share of the time of all operations."""


class SequenceSection(TypedDict):
    """Results of query mixes, as their benchmark specification defines them."""

    clients: int
    size: float
    """Size of the data, counted in `size_name`, as part of the result's name."""
    size_name: str
    """Unit of the data's size, such as triples; the name of the scale if no triples were loaded."""
    mixes: int
    """Number of complete mixes."""
    operations_s: float
    """Total seconds of operations in complete mixes."""
    wall_s: float
    """Elapsed seconds from the first start to the last end."""
    metrics: list[SequenceMetric]
    """Figures that the specification names, with the rate first."""
    query_time: str
    """The specification's name for the mean time of an operation; empty without one."""
    queries: list[SequenceQuery]
    """Times of each operation, in the order of the mix."""
