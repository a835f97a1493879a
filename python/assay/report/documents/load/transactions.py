"""A specified mix of transactions in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue, TimeDistribution


class TransactionRate(TypedDict):
    """The rate that a specification names, such as tpmC."""

    specified: str
    """Name of the rate in the specification, such as tpmC."""
    name: str
    """Name of this run's rate. It differs from the specification's if clients did not wait."""
    value: float
    """Number of successful executions in each period of the rate, such as a minute."""
    counted: int
    """Total number of successful executions."""
    operation: str
    seconds: float
    waits: bool
    """Whether clients waited between operations like people at terminals."""
    least: MeasuredValue
    """Lowest possible rate at this scale; null without waits."""
    most: MeasuredValue
    """Highest possible rate at this scale; null without waits."""
    clients: int
    terminals: int | None
    """Number of clients that the specification requires; null without waits."""


class TransactionTypeRow(TypedDict):
    """One type of transaction: counts, times and its limit."""

    name: str
    title: str
    ok: int
    """Number of transactions that succeeded."""
    failed: int
    share: MeasuredValue
    """Share of all successful transactions."""
    share_min: MeasuredValue
    """Lowest share that the specification allows; null without a limit."""
    retries: dict[str, int]
    """Number of retries by class of error."""
    latency: TimeDistribution
    service: TimeDistribution
    limit_s: MeasuredValue
    """Limit of the 90th percentile of latency; null without one."""
    limit_kept: bool | None
    """Whether the limit was met; null without a limit, or if too few transactions succeeded."""


class TransactionsSection(TypedDict):
    """The transaction mix in the terms of the workload's specification."""

    rate: TransactionRate | None
    """The specification's rate of a run; null if its operation was not executed."""
    types: list[TransactionTypeRow]
