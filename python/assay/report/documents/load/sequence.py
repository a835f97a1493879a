"""Mixes that clients play in order, in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict


class SequenceMetric(TypedDict):
    """One figure that the specification names."""

    name: str
    """Such as QMpH."""
    value: float
    about: str
    """What was divided by what."""


class SequenceQuery(TypedDict):
    """One operation of the mix."""

    name: str
    title: str
    executions: int
    """In whole mixes."""
    cut_off: int
    """How many of them were cut off at the time limit, and count with it."""
    mean_s: float
    geometric_mean_s: float
    min_s: float
    max_s: float
    share: float
    """Of the time of all operations."""


class SequenceSection(TypedDict):
    """Mixes in the terms of their specification."""

    clients: int
    size: float
    """What results are named with: so many of `size_name`."""
    size_name: str
    """Such as triples; the name of the scale where none were loaded."""
    mixes: int
    """That came to their end."""
    operations_s: float
    """Time of all operations in them."""
    wall_s: float
    """By the clock, from the first start to the last end."""
    metrics: list[SequenceMetric]
    """Figures that the specification names, the rate first."""
    query_time: str
    """What the specification calls the mean time of an operation; empty: nothing."""
    queries: list[SequenceQuery]
    """Each operation, in the order of the mix."""
