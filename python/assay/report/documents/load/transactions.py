"""Types of a run's document on a benchmark's transaction mix."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue, TimeDistribution


class TransactionRate(TypedDict):
    """The transaction rate that a benchmark specification names, such as tpmC."""

    specified: str
    """Name of the rate in the specification, such as tpmC."""
    name: str
    """Name of this run's rate, which differs from the specification's if clients did not wait."""
    value: float
    """Number of successful executions in each period of the rate, such as a minute."""
    counted: int
    """Total number of successful executions of the rate's operation."""
    operation: str
    seconds: float
    waits: bool
    """Whether clients waited between operations like people at terminals."""
    least: MeasuredValue
    """Lowest rate that is possible at this scale; null if clients did not wait."""
    most: MeasuredValue
    """Highest rate that is possible at this scale; null if clients did not wait."""
    clients: int
    terminals: int | None
    """Number of clients that the specification requires; null if clients did not wait."""


class TransactionTypeRow(TypedDict):
    """Counts, latencies and the time limit of one transaction type."""

    name: str
    title: str
    ok: int
    """Number of transactions of this type that succeeded."""
    failed: int
    share: MeasuredValue
    """The type's share of all successful transactions."""
    share_min: MeasuredValue
    """Lowest share of this type that the specification allows; null without a limit."""
    retries: dict[str, int]
    """Number of retries by class of error."""
    latency: TimeDistribution
    service: TimeDistribution
    limit_s: MeasuredValue
    """Limit of the type's 90th percentile of latency, in seconds; null without one."""
    limit_kept: bool | None
    """Whether the latency limit was met; null without a limit, or if too few transactions
    succeeded."""


class TransactionsSection(TypedDict):
    """Results of a transaction mix, as its benchmark specification defines them."""

    rate: TransactionRate | None
    """The specified rate of the run; null if its operation was not executed."""
    types: list[TransactionTypeRow]
