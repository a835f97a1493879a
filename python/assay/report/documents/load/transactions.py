"""A specified mix of transactions in the document of a run."""

from __future__ import annotations

from typing_extensions import TypedDict

from assay.report.documents.figures import MeasuredValue, TimeDistribution


class TransactionRate(TypedDict):
    """The rate that a specification names, such as tpmC."""

    specified: str
    """Such as tpmC."""
    name: str
    """The same, or another one where clients did not wait."""
    value: float
    """How often the operation succeeded in each of so many seconds."""
    counted: int
    """How often in all."""
    operation: str
    seconds: float
    waits: bool
    """Whether clients waited around operations as people do."""
    least: MeasuredValue
    """The least that it can be at this scale; null without waits."""
    most: MeasuredValue
    """The most."""
    clients: int
    terminals: int | None
    """Clients that there have to be with waits; null without."""


class TransactionTypeRow(TypedDict):
    """One type of transaction: counts, times and its limit."""

    name: str
    title: str
    ok: int
    """How many succeeded."""
    failed: int
    share: MeasuredValue
    """Of all that succeeded."""
    share_min: MeasuredValue
    """The least that it has to be; null: anything."""
    retries: dict[str, int]
    """Attempts that were made again, by class of their error."""
    latency: TimeDistribution
    service: TimeDistribution
    limit_s: MeasuredValue
    """Of the 90th percentile of latency; null: none."""
    limit_kept: bool | None
    """Null where there is no limit, or too few succeeded."""


class TransactionsSection(TypedDict):
    """The mix as its workload specifies it."""

    rate: TransactionRate | None
    """What the specification calls the rate of a run; null where its operation was not played."""
    types: list[TransactionTypeRow]
