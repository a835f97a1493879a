"""Results of a benchmark's transaction mix: its rate, and each type's share and latency.

Successful transactions of the measured part count, including those that roll back by intention.
Shares are relative to all successful transactions. A limit applies to the 90th percentile of
latency, which counts from the due time.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from assay.analysis.load_plan import CLOSED, measured_phase

if TYPE_CHECKING:
    from assay.analysis.load.latency import Distribution
    from assay.analysis.load.summary import LoadSummary
    from assay.record.reader import Run


@dataclass(frozen=True)
class Rate:
    """A run's transaction rate as the benchmark specification defines it, such as tpmC.

    Attributes:
        specified: The specification's name of the rate, such as tpmC.
        name: Name of this run's rate. Without think times it differs from `specified`.
        value: Number of successful executions in each period of the rate, such as a minute.
        counted: Total number of successful executions.
        operation, seconds: The operation that counts, and the seconds in which it was counted.
        waits: Whether clients waited for keying and think times.
        least, most: Possible range of the rate with waits at this scale; None means no limit.
        clients, terminals: Number of clients, and number that the specification requires with
            waits.
    """

    specified: str
    name: str
    value: float
    counted: int
    operation: str
    seconds: float
    waits: bool
    least: float | None
    most: float | None
    clients: int
    terminals: int | None

    @property
    def standard_error(self) -> float:
        """The standard error of the transaction rate, from the square root of the count."""
        return self.value / math.sqrt(self.counted) if self.counted else math.inf


@dataclass(frozen=True)
class TransactionType:
    """The results of one type of transaction.

    Attributes:
        name, title: Name and title in the workload.
        ok, failed: Number of transactions that succeeded and failed.
        share: Share of all successful transactions; None if none succeeded.
        share_min: Lowest share that the specification allows; None means no limit.
        retries: Number of retried attempts, by class of their error.
        latency, service: Latency and service time of successful transactions.
        limit_s: Limit of the 90th percentile of latency; None means no limit.
        limit_kept: Whether the limit was met; None if no limit, or too few transactions succeeded.
    """

    name: str
    title: str
    ok: int
    failed: int
    share: float | None
    share_min: float | None
    retries: dict[str, int]
    latency: Distribution
    service: Distribution
    limit_s: float | None
    limit_kept: bool | None


@dataclass(frozen=True)
class Transactions:
    """The results of a benchmark's transaction mix: its rate and its transaction types."""

    rate: Rate | None
    types: tuple[TransactionType, ...]

    def facts(self) -> dict[str, Any]:
        """Return the rate and the transaction types as JSON values."""
        return {
            "rate": None if self.rate is None else asdict(self.rate),
            "types": [asdict(transaction) for transaction in self.types],
        }


def transactions(run: Run, load: LoadSummary | None) -> Transactions | None:
    """Return the results of a benchmark's transaction mix; None without a load."""
    workload = run.facts["workload"]
    specified = workload.get("rate") or workload.get("shares_min") or workload.get("limits_s")
    if load is None or not specified:
        return None
    done = sum(operation.ok for operation in load.by_name.values())
    names = dict.fromkeys((*_order(run), *load.by_name))
    types = tuple(_type(workload, name, load, done) for name in names if name in load.by_name)
    return Transactions(_rate(run, load), types)


def _order(run: Run) -> list[str]:
    operations = run.facts["plan"]["operations"]
    return [operations[number] for number in measured_phase(run.facts).get("operations", [])]


def _type(workload: dict[str, Any], name: str, load: LoadSummary, done: int) -> TransactionType:
    operation = load.by_name[name]
    limit_s = workload.get("limits_s", {}).get(name)
    p90 = operation.latency.p90
    return TransactionType(
        name=name,
        title=workload.get("operation_titles", {}).get(name, ""),
        ok=operation.ok,
        failed=operation.failed,
        share=operation.ok / done if done else None,
        share_min=workload.get("shares_min", {}).get(name),
        retries=operation.retries_by_class,
        latency=operation.latency,
        service=operation.service,
        limit_s=limit_s,
        limit_kept=None if limit_s is None or p90 is None else p90 <= limit_s,
    )


def _rate(run: Run, load: LoadSummary) -> Rate | None:
    rate = run.facts["workload"].get("rate")
    counted = None if rate is None else load.by_name.get(rate["operation"])
    if rate is None or counted is None:
        return None
    waits = load.load.shape == CLOSED and bool(measured_phase(run.facts).get("waits"))
    scale = float(run.facts["request"]["scale"])
    terminals = run.facts["workload"].get("terminals")
    return Rate(
        specified=rate["waits"],
        name=rate["waits"] if waits else rate["no_waits"],
        value=counted.ok * rate["seconds"] / load.window.seconds,
        counted=counted.ok,
        operation=rate["operation"],
        seconds=rate["seconds"],
        waits=waits,
        least=rate["least"] * scale if waits and rate["least"] else None,
        most=rate["most"] * scale if waits and rate["most"] else None,
        clients=load.load.clients,
        terminals=round(terminals * scale) if waits and terminals else None,
    )
