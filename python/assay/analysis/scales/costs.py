"""Computes the costs of one run: time, CPU, reads, engine counters, memory and data.

Costs refer to a transaction of a load, or to a pass over all operations (`compare.account`), so
that runs of different length are comparable.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from assay.analysis.cluster.counters import totals_of_a_pass
from assay.analysis.cluster.words import BYTES as NODE_BYTES
from assay.analysis.cluster.words import MESSAGES
from assay.analysis.compare.cpu import cpu_by_work
from assay.analysis.counters.engine_counters import engine_counters
from assay.analysis.data_size import data_bytes, rows_loaded
from assay.analysis.host.accounts import read_by_account
from assay.analysis.host.memory import memory_peaks
from assay.analysis.load.account import account_of, wholes_of
from assay.analysis.load.summary import summarise_load
from assay.analysis.load_plan import load_of
from assay.analysis.operations import NS, window_of
from assay.analysis.profile.shares import metered_cpu
from assay.analysis.profile.statement_work import statement_work
from assay.analysis.summarise import window_accounts
from assay.record.layout import ENGINE_ACCOUNTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.analysis.load.account import Account
    from assay.record.reader import Run

BYTES, SECONDS, COUNT, PER_SECOND = "bytes", "s", "count", "/s"
# Groups of costs, by which findings and tables are organised.
TIME, RATE, CPU, WORK, READS, NETWORK, COUNTED, MEMORY, DATA = (
    "time",
    "rate",
    "CPU",
    "CPU by work",
    "reads",
    "network",
    "engine counters",
    "memory",
    "data",
)
GROUPS = (TIME, RATE, CPU, WORK, READS, NETWORK, COUNTED, MEMORY, DATA)
WHOLE_TIME, CPU_TIME, READ_BYTES, MEMORY_PEAK = "time", "cpu", "read bytes", "memory"
SENT_BYTES, SENT_MESSAGES = "network bytes", "messages"
PER_S, ROWS, DATA_BYTES, PLANNING = "per second", "rows", "data bytes", "planning"
CPU_OF, TIME_OF, COUNTER_OF = "cpu ", "time ", "counter "


@dataclass(frozen=True)
class Cost:
    """One cost of a transaction or of one execution of all operations, such as CPU time.

    Attributes:
        key: Key that identifies the same cost in other runs.
        title: Title for readers.
        group: Group of the cost.
        unit: Unit as in figures; for a counter the engine's own unit.
        value: Sum over all parts. For `memory` the maximum, for `data` the size of all data.
    """

    key: str
    title: str
    group: str
    unit: str
    value: float


def whole_name(run: Run) -> str:
    """Return the name of the unit to which costs refer: an operation or a pass."""
    account = account_of(run)
    return "an operation" if account is not None and account.is_mix else "a pass"


@lru_cache(maxsize=256)
def costs_of(run: Run) -> dict[str, Cost]:
    """Return the costs of a run by key, in the order of display."""
    account = account_of(run)
    if account is None:
        return {}
    wholes = wholes_of(run, account)
    costs = (
        *_times(run, account),
        *_cpu(run, wholes),
        *_reads(run, wholes),
        *_network(run),
        *_counters(run, wholes),
        *_memory(run),
        *_data(run),
    )
    return {cost.key: cost for cost in costs}


def _times(run: Run, account: Account) -> Iterator[Cost]:
    yield Cost(WHOLE_TIME, "time", TIME, SECONDS, account.whole_s)
    load, summary = load_of(run.facts), summarise_load(run)
    if load is not None and summary is not None:
        rate = summary.all_operations.throughput_per_s
    else:
        rate = len(account.operations) / account.whole_s
    yield Cost(PER_S, "operations a second", RATE, PER_SECOND, rate)
    for name, operation in account.operations.items():
        yield Cost(f"{TIME_OF}{name}", f"time of {name}", TIME, SECONDS, operation.mean_s)


def _cpu(run: Run, wholes: float) -> Iterator[Cost]:
    seconds = _cpu_seconds(run)
    if seconds is not None:
        yield Cost(CPU_TIME, "CPU time", CPU, SECONDS, seconds / wholes)
    planning = _planning_seconds(run)
    if planning is not None:
        yield Cost(PLANNING, "CPU: before execution", CPU, SECONDS, planning / wholes)
    for work, of_work in sorted(cpu_by_work(run).items(), key=lambda pair: -pair[1]):
        yield Cost(f"{CPU_OF}{work}", f"CPU: {work}", WORK, SECONDS, of_work)


def _cpu_seconds(run: Run) -> float | None:
    """Return the engine's CPU seconds: around each operation, or over the window of a load.

    Operations of a load overlap, so counters around them would count the same threads twice.
    """
    if load_of(run.facts) is None:
        metered = metered_cpu(run)
        if metered.height:
            return float(metered["cpu_ns"].sum()) * NS
    used = window_accounts(run)
    return None if used is None else _sum_of_engine(used.by_process)


def _sum_of_engine(by_account: dict[str, float]) -> float | None:
    own = [value for account, value in by_account.items() if account in ENGINE_ACCOUNTS]
    return sum(own) if own else None


def _planning_seconds(run: Run) -> float | None:
    """Return the CPU seconds of planning in the measured part; None if none were sampled.

    Without samples the planning time may be 0, or no rule recognises it.
    """
    work = statement_work(run)
    if work is None:
        return None
    keys = ["operation", "statement"]
    whole = work.planning.filter(work.planning["step"].is_null()).join(
        work.executions.select(*keys, "executions"), on=keys, nulls_equal=True
    )
    return float((whole["seconds"] * whole["executions"]).sum()) or None


def _reads(run: Run, wholes: float) -> Iterator[Cost]:
    window = window_of(run)
    if window is None or not run.has("processes"):
        return
    by_account = read_by_account(run.table("processes"), *window)
    read = None if by_account is None else _sum_of_engine(by_account)
    if read is not None:
        yield Cost(READ_BYTES, "bytes read from storage", READS, BYTES, read / wholes)


def _network(run: Run) -> Iterator[Cost]:
    """Yield the bytes and messages between cluster nodes per execution of all operations."""
    totals = totals_of_a_pass(run)
    named = (
        (NODE_BYTES, SENT_BYTES, "bytes between nodes", BYTES),
        (MESSAGES, SENT_MESSAGES, "messages between nodes", COUNT),
    )
    for word, key, title, unit in named:
        if word in totals:
            yield Cost(key, title, NETWORK, unit, totals[word])


def _counters(run: Run, wholes: float) -> Iterator[Cost]:
    """Yield costs from the engine's counters that grew in the measured part."""
    declared = engine_counters(run)
    for figure in () if declared is None else declared["counters"]:
        if figure["total"] is not None:
            unit = figure["unit"] if figure["unit"] in (BYTES, SECONDS) else COUNT
            title = str(figure["title"])
            title = f"{title[:1].lower()}{title[1:]}" if title[1:2].islower() else title
            key = f"{COUNTER_OF}{figure['name']}"
            yield Cost(key, title, COUNTED, unit, float(figure["total"]) / wholes)


def _memory(run: Run) -> Iterator[Cost]:
    _, peak = memory_peaks(run, under_load=load_of(run.facts) is not None)
    if peak.rss_bytes is not None:
        yield Cost(MEMORY_PEAK, "peak memory", MEMORY, BYTES, float(peak.rss_bytes))
    if peak.engine_bytes is not None:
        title = "memory of the largest query by the engine's account"
        yield Cost("query memory", title, MEMORY, BYTES, float(peak.engine_bytes))


def _data(run: Run) -> Iterator[Cost]:
    rows, bytes_ = rows_loaded(run), data_bytes(run)
    if rows is not None:
        yield Cost(ROWS, "rows loaded", DATA, COUNT, rows)
    if bytes_ is not None:
        yield Cost(DATA_BYTES, "data as they lie on disk", DATA, BYTES, bytes_)
