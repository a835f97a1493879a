"""Splits a client's time per successful operation by cause and by statement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.analysis.causes import PARTS
from assay.analysis.findings.host.processes import cores_of
from assay.analysis.host.disk_series import UTIL, data_device, disk_series
from assay.record.layout import ACCOUNT_DRIVER, ENGINE_ACCOUNTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from assay.analysis.host.accounts import Accounts
    from assay.analysis.summary import Summary
    from assay.record.reader import Run

# If the time of threads at work differs from that of operations by more, threads are no
# sessions.
APART_MAX = 0.25


@dataclass(frozen=True)
class ClientTime:
    """The seconds of a client per successful operation, at one number of clients.

    Attributes:
        clients: Number of clients.
        operation_s: Total time of a client per successful operation, including failed and
            retried attempts.
        failed_s: Time in failed attempts by operation, not split further.
        causes: The remaining time by cause; empty if the sessions' causes are not known.
        statements: Time of answered statements, by operation and name. An operation of one
            statement is one entry.
        cores: Number of busy CPUs by `engine`, `driver` and `others`, as far as known.
        cpus: Number of CPUs; None if not known.
        device_busy: Busy share of the data's device; None if not known.
        flush_s: Mean seconds of a flush of the device; None if not known.
    """

    clients: int
    operation_s: float
    failed_s: Mapping[str, float] = field(default_factory=dict)
    causes: Mapping[str, float] = field(default_factory=dict)
    statements: Mapping[tuple[str, str], float] = field(default_factory=dict)
    cores: Mapping[str, float] = field(default_factory=dict)
    cpus: int | None = None
    device_busy: float | None = None
    flush_s: float | None = None


def client_time(run: Run, summary: Summary) -> ClientTime | None:
    """Return the client time of a run; None without a load or a successful operation."""
    load, work = summary.load, summary.work
    if load is None or work is None or not load.all_operations.ok or not work.service_s:
        return None
    done = load.all_operations.ok
    failed = dict(work.attempts_s)
    rest_s = work.service_s - work.wasted_s
    if work.failed_s:
        failed[""] = work.failed_s
    busy, flush_s = _device(run)
    return ClientTime(
        clients=load.load.clients,
        operation_s=work.service_s / done,
        failed_s={name: seconds / done for name, seconds in failed.items()},
        causes={
            name: share * rest_s / done for name, share in _causes(summary, work.service_s).items()
        },
        statements=_statements(summary, (work.service_s - work.failed_s) / done),
        cores={} if summary.accounts is None else _cores(summary.accounts),
        cpus=None if summary.accounts is None else summary.accounts.cpus,
        device_busy=busy,
        flush_s=flush_s,
    )


def _causes(summary: Summary, service_s: float) -> dict[str, float]:
    """Return the shares of all operations' time by cause; empty if not known.

    If operations cannot be distinguished, threads at work represent sessions, provided that both
    times are nearly equal. In an engine whose threads serve any session, the times differ.
    """
    where = summary.where
    if where is not None and where.together_s is not None:
        if abs(where.together_s - service_s) > APART_MAX * service_s:
            return {}
        return {name: share for name, share in where.shares.items() if share is not None}
    shares = dict.fromkeys(PARTS, 0.0)
    known_share = 0.0
    for operation in summary.operations:
        if operation.share is not None and any(
            part_share is not None for part_share in operation.where.values()
        ):
            known_share += operation.share
            for name, share in operation.where.items():
                shares[name] += (share or 0.0) * operation.share
    return {name: share / known_share for name, share in shares.items()} if known_share else {}


def _statements(summary: Summary, service_s: float) -> dict[tuple[str, str], float]:
    """Return seconds of all operations, divided among operations and their statements."""
    seconds: dict[tuple[str, str], float] = {}
    for operation in summary.operations:
        own_s = service_s * (operation.share or 0.0)
        noted = summary.statements.get(operation.name)
        if noted is None:
            seconds[operation.name, ""] = own_s
            continue
        for statement in noted.statements:
            seconds[operation.name, statement.name] = own_s * statement.share
    return seconds


def _cores(used: Accounts) -> dict[str, float]:
    engine = [cores for name in ENGINE_ACCOUNTS if (cores := cores_of(used, name)) is not None]
    cores_by_user = {
        "engine": sum(engine) if engine else None,
        "driver": cores_of(used, ACCOUNT_DRIVER),
        "others": used.background_s / used.window_s if used.window_s else None,
    }
    return {name: cores for name, cores in cores_by_user.items() if cores is not None}


def _device(run: Run) -> tuple[float | None, float | None]:
    """Return the busy share of the disk with the data, and the seconds of a flush."""
    device = data_device(run)
    if device is None:
        return None, None
    seen = disk_series(run, None, device)
    seen = seen.filter((seen["device"] == device) & (seen["time_s"] > 0))
    if seen.is_empty():
        return None, None
    busy = _mean(seen[UTIL], seen["seconds"])
    flush_ms = _mean(seen["f_await"], seen["f/s"] * seen["seconds"])
    return (
        None if busy is None else busy / 100,
        None if flush_ms is None else flush_ms / 1000,
    )


def _mean(values: pl.Series, weights: pl.Series) -> float | None:
    """Return the weighted mean of known values; None if there are none."""
    pairs = [
        (value, by) for value, by in zip(values, weights, strict=True) if value is not None and by
    ]
    whole = sum(by for _, by in pairs)
    return sum(value * by for value, by in pairs) / whole if whole else None
