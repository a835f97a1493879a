"""The named metrics of a load, such as throughput and latency percentiles, for documents."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from assay.record.layout import ACCOUNT_DRIVER, ACCOUNT_ENGINE

if TYPE_CHECKING:
    from assay.analysis.host.accounts import Accounts
    from assay.analysis.load.sequences import Sequence
    from assay.analysis.load.summary import LoadSummary
    from assay.analysis.load.wasted_work import Work

NAMES = (
    "operations",
    "throughput_per_s",
    "statements_per_s",
    "latency_seconds_p50",
    "latency_seconds_p90",
    "latency_seconds_p95",
    "latency_seconds_p99",
    "latency_seconds_p999",
    "latency_seconds_max",
    "latency_with_failed_seconds_p50",
    "latency_with_failed_seconds_p95",
    "latency_with_failed_seconds_p99",
    "latency_with_failed_seconds_p999",
    "driver_lag_seconds_p50",
    "driver_lag_seconds_p99",
    "driver_lag_seconds_max",
    "failed_share",
    "skipped_share",
    "retries",
    "wasted_share",
    "waiting_end",
    "on_time_share",
    "mixes_per_s",
    "engine_cpu_seconds_per_operation",
    "driver_cpu_seconds_per_operation",
)
WITH_FAILED = ("p50", "p95", "p99", "p999")
OF_LAG = ("p50", "p99", "max")


def no_load_metrics() -> dict[str, float | None]:
    """Return the names of all load metrics without values, for a run without a load."""
    return dict.fromkeys(NAMES)


def load_metrics(
    load: LoadSummary, used: Accounts | None, work: Work, sequence: Sequence | None = None
) -> dict[str, float | None]:
    """Return the named metrics of all operations of a load; None for values not measured."""
    whole = load.all_operations
    latency = {
        f"latency_seconds_{name}": value
        for name, value in asdict(whole.latency).items()
        if name != "count"
    }
    failing = asdict(whole.latency_with_failed) if whole.latency_with_failed else {}
    with_failed = {f"latency_with_failed_seconds_{name}": failing.get(name) for name in WITH_FAILED}
    lag = asdict(whole.driver_lag) if whole.driver_lag else {}
    return (
        latency
        | with_failed
        | {f"driver_lag_seconds_{name}": lag.get(name) for name in OF_LAG}
        | {
            "operations": whole.scheduled,
            "throughput_per_s": whole.throughput_per_s,
            "statements_per_s": work.answered / load.window.seconds,
            "failed_share": whole.failed / whole.scheduled if whole.scheduled else None,
            "skipped_share": whole.skipped / whole.scheduled if whole.scheduled else None,
            "retries": whole.retries,
            "wasted_share": work.wasted_share,
            "waiting_end": load.schedule.waiting_end if load.schedule else None,
            "on_time_share": load.schedule.on_time_share if load.schedule else None,
            "mixes_per_s": sequence.mixes_per_s if sequence else None,
            "engine_cpu_seconds_per_operation": cpu_per_operation(load, used, ACCOUNT_ENGINE),
            "driver_cpu_seconds_per_operation": cpu_per_operation(load, used, ACCOUNT_DRIVER),
        }
    )


def cpu_per_operation(load: LoadSummary, used: Accounts | None, account: str) -> float | None:
    """Return the CPU seconds per operation of the engine or the driver; None if unknown."""
    issued = load.all_operations.ok + load.all_operations.failed
    if used is None or account not in used.by_process or not issued:
        return None
    return used.by_process[account] / issued
