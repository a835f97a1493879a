"""Causes of which it is known how much of a run's time each is: built with it and without it.

`build(effect)` makes a case in which the cause is that share of the time; `twin(effect)` is the
same case, its time spent in the same way, without the cause.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assay.analysis.cluster.barriers import Barrier, Barriers
from assay.analysis.cluster.line import Line, NodeFigures, together
from assay.analysis.cluster.nodes import ClusterNode
from assay.analysis.cluster.skew import skews_over
from assay.analysis.cluster.told import Cluster
from assay.analysis.findings.engine_facts import TableFacts
from assay.analysis.host.accounts import Accounts
from assay.analysis.host.limits import LimitUse
from assay.model.blocker import Blocker
from assay.model.catalogue import Alternative, ChangedSetting, ForeignKey, Index
from assay.model.plan import PlanNode, Trigger
from tests.cases import case, executions, node, operation, passes, plan, plans

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.analysis.findings.case import Case

GIB = 1 << 30
MIB = 1 << 20
# The time of the only operation, or of a pass over both.
WHOLE_S = 10.0


@dataclass(frozen=True)
class Truth:
    """A cause that is built.

    Attributes:
        method: Of the finding that has to name it.
        build, twin: Of an effect.
        noise: An effect at which silence is right.
        says: What the claim says of it, at an effect of 70 %.
        at: Where its evidence leads.
        advice: Kind and subject of what is advised.
        more: Of a table, to tell two causes of one method apart.
    """

    method: str
    build: Callable[[float], Case]
    twin: Callable[[float], Case]
    noise: float
    says: tuple[str, ...]
    at: tuple[str, ...]
    advice: tuple[str, str] | None = None
    more: str = ""
    effects: tuple[float, ...] = field(default=(0.3, 0.7))

    def __str__(self) -> str:
        return f"{self.method} {self.more}".strip()


def two(effect: float, **where: float) -> tuple[Any, Any]:
    """An operation that has the effect, and one that has not: half of the time each at most."""
    share = max(0.5, effect)
    part = {name: value * effect / share for name, value in where.items()}
    left = 1 - sum(part.values())
    q1 = operation("q1", share=share, overrides={"seconds": share * WHOLE_S}, cpu_user=left, **part)
    q2 = operation(
        "q2", share=1 - share, overrides={"seconds": (1 - share) * WHOLE_S}, cpu_user=1.0
    )
    return q1, q2


def planned(effect: float, *inner: PlanNode, above: str = "aggregate", **fields: Any) -> Case:
    """An operation whose operators `inner` took the effect, and something above them the rest."""
    rest = node(above, *inner, seconds=WHOLE_S * (1 - effect))
    return case(
        operation(cpu_user=1.0, overrides={"seconds": WHOLE_S}), plans=plans(plan(rest)), **fields
    )


def spilled(effect: float, spilled_bytes: int = GIB) -> Case:
    return planned(effect, node("sort", seconds=WHOLE_S * effect, spilled_bytes=spilled_bytes))


def looped(effect: float, rows: float = 10_000, **fields: Any) -> Case:
    """A nested loop that was chosen for one outer row, and that came to be of many."""
    outer = node("scan", object="orders", estimated_rows=1, rows=rows, seconds=0.0)
    inner = node("index scan", object="lines", seconds=WHOLE_S * effect)
    return planned(effect, node("nested loop", outer, inner, rows=rows, seconds=0.0), **fields)


def stale(effect: float, changed: float = 10_000) -> Case:
    facts = TableFacts(rows=1e6, changed_rows=changed, estimated_rows=1e6, analyzed=True)
    return looped(effect, tables={"orders": facts})


def scanned(effect: float, kept: float = 0.0, **fields: Any) -> Case:
    rows = {"rows": 1e6 * kept, "removed_rows": 1e6 * (1 - kept)}
    scan = node("scan", object="lines", condition="(line = 7)", seconds=WHOLE_S * effect, **rows)
    return planned(effect, scan, **fields)


LINES = {"lines": (Index("lines", "lines_line", ("line",)),)}


def unused(effect: float, value: str) -> Case:
    """A scan whose index a setting keeps from being used, where it is off."""
    changed = (ChangedSetting("use_indexes", value, "on"),) if value != "on" else ()
    other = Alternative("q1", 0, "setting", "use_indexes", "on", 100.0, 1.0, True, ("lines_line",))
    alternatives = {"q1": (other,)} if changed else {}
    return scanned(effect, changed_settings=changed, alternatives=alternatives, indexes=LINES)


def hidden(effect: float, condition: str) -> Case:
    """A scan whose condition hides the indexed column; its twin is about another column."""
    scan = node("scan", object="lines", condition=condition, rows=10.0, removed_rows=1e6)
    return planned(effect, replace(scan, seconds=WHOLE_S * effect), indexes=LINES)


def filtered(effect: float, kept: float = 0.0) -> Case:
    """An index scan whose filter throws most of what the index finds away."""
    scan = node("index scan", object="lines", index="lines_line", seconds=WHOLE_S * effect)
    rows = {"rows": 1e6 * kept, "removed_rows": 1e6 * (1 - kept)}
    scan = replace(scan, condition="(line = 7); filter (kind = 3)", **rows)
    return planned(effect, scan, indexes=LINES)


def ordered(effect: float, kept: float = 0.0) -> Case:
    """An index that is read in order, and a filter that throws most of its rows away."""
    scan = node("index scan", object="lines", index="lines_line", cut_short=True)
    rows = {"rows": 1e6 * kept, "removed_rows": 1e6 * (1 - kept)}
    scan = replace(scan, condition="filter (kind = 3)", seconds=WHOLE_S * effect, **rows)
    return planned(effect, node("limit", scan, rows=rows["rows"], seconds=0.0), indexes=LINES)


def skipping(
    effect: float, text: str = "select * from lines order by line limit 10 offset 9990"
) -> Case:
    """A page of 10 rows far behind the first, or a statement that returns all it reads."""
    returned = 10.0 if "offset" in text else 10_000.0
    scan = node("index scan", object="lines", rows=10_000.0, seconds=WHOLE_S * effect)
    limit = node("limit", scan, rows=returned, seconds=0.0)
    above = node("result", limit, seconds=WHOLE_S * (1 - effect))
    return case(
        operation(cpu_user=1.0, overrides={"seconds": WHOLE_S}),
        plans=plans(plan(above, text=text)),
    )


def fired(effect: float) -> Case:
    """A statement that spends the effect in a check of a foreign key."""
    check = Trigger("check", "customers", WHOLE_S * effect, 3, "orders_fk")
    change = plan(node("modify", seconds=WHOLE_S * (1 - effect)), execution_s=WHOLE_S)
    with_trigger = replace(change, triggers=(check,))
    keys = (ForeignKey("orders_fk", "orders", ("customer",), "customers"),)
    return case(
        operation(cpu_user=1.0, overrides={"seconds": WHOLE_S}),
        plans=plans(with_trigger),
        foreign_keys=keys,
    )


def generic(effect: float, factor: float | None = None) -> Case:
    """One plan for all values, where plans for each save the effect, or a factor is left."""
    left = WHOLE_S * (1 - effect if factor is None else factor)
    other = Alternative(
        "q1", 0, "custom", "plan_mode", "custom", 9.0, 1.0, True, ("k",), "Index Scan k"
    )
    other = replace(other, seconds=WHOLE_S, seconds_changed=left)
    kept = replace(plan(node("scan", object="lines", seconds=WHOLE_S)), mode="generic")
    whole = operation(cpu_user=1.0, overrides={"seconds": WHOLE_S})
    return case(whole, plans=plans(kept), alternatives={"q1": (other,)}, prepared=True)


def columns(effect: float, unneeded: int = 7) -> Case:
    """A scan and an aggregate of ten columns, of which seven are needed by nobody."""
    read = (*"abc", *(f"x{number}" for number in range(unneeded)))
    half = WHOLE_S * effect / 0.7 / 2
    scan = node("scan", object="lines", columns=read, rows=1e6, seconds=half)
    groups = node("aggregate", scan, rows=10, seconds=half)
    top = node("sort", groups, rows=10, seconds=WHOLE_S - 2 * half)
    return case(
        operation(overrides={"seconds": WHOLE_S}),
        plans=plans(plan(top)),
        statements={"q1": "select a, max(c) from lines group by b -- nobody needs x1"},
        results={"q1": ("a", "max")},
    )


def dead(effect: float, share: float = 0.9) -> Case:
    """A scan of a table of which nine tenths are dead rows, so that it takes a little longer."""
    facts = TableFacts(rows=1e5, dead_rows=1e5 * share / (1 - share), bytes=GIB)
    scan = node("scan", object="bills", rows=1e5, seconds=WHOLE_S * effect / 0.9)
    return planned(effect / 0.9, scan, tables={"bills": facts})


def compiled(effect: float, compiling: bool = True) -> Case:
    """Two operations of half of the time each; one of them is compiled if that is enough."""
    compiled_plans = [
        plan(node(seconds=1.0), name, compiling_s=effect * compiling) for name in ("q1", "q2")
    ]
    halves = [operation(name, share=0.5, cpu_user=1.0) for name in ("q1", "q2")]
    return case(*halves, plans=plans(*compiled_plans))


def optimised(effect: float, planning: bool = True) -> Case:
    optimised_plan = plan(
        node(seconds=1 - effect * planning), planning_s=effect if planning else None
    )
    return case(operation(cpu_user=1.0), plans=plans(optimised_plan), can_prepare=True)


def waited(*names: str) -> Callable[[float], Case]:
    """Time in some causes, in equal parts."""
    return lambda effect: case(*two(effect, **{name: 1 / len(names) for name in names}))


def fetched(effect: float, rows: int = 100_000) -> Case:
    """Time in which the server waited for its client, for results of so many rows."""
    q1, q2 = two(effect, client=1.0)
    return case(replace(q1, rows=rows), replace(q2, rows=rows))


def held_by_another(effect: float) -> Case:
    """Time in waiting for a lock that a session of another application holds."""
    holder = Blocker(99, False, 20, 1.0, "batch", "idle in transaction", object="seats")
    holder = replace(holder, transaction_s=12.0, statement="lock table seats")
    return case(*two(effect, lock=1.0), blockers=(holder,))


def hot_row(effect: float) -> Case:
    """Time in which sessions of the run wait for a row that another one of them has changed."""
    update = "update seats set taken = true where id = 7"
    waiter = {"object": "seats", "mode": "row", "waiting_statement": update}
    own = tuple(Blocker(pid, True, 10, 0.5, "assay", "active", **waiter) for pid in (11, 12))
    return case(*two(effect, lock=1.0), blockers=own)


def computed(_: float) -> Case:
    return case(operation(cpu_user=1.0))


def neighboured(effect: float, background_s: float = 90.0) -> Case:
    """One thread that waits for a CPU while others use as much as is told."""
    used = Accounts(100.0, 4, {"engine": 100 * (1 - effect)}, 0.0, 0.0, 0.0)
    used = replace(used, busy_s=sum(used.by_process.values()) + background_s)
    return case(*two(effect, run_queue=1.0), accounts=used)


def fenced(effect: float, hits: float = 5_000.0, data_bytes: float = 2 * GIB) -> Case:
    """Reads that are waited for, of data that a memory limit keeps out of the page cache."""
    limit = LimitUse("memory", GIB, GIB, GIB, 10.0, hits, hits > 0)
    return replace(from_storage(effect), memory_limit=limit, data_bytes=data_bytes)


def from_storage(effect: float, read_bytes: float = GIB) -> Case:
    """Reads that are waited for, of data that come from storage in each pass."""
    rows = [
        {"phase": "measured", "pass": number, "operation": name, "seconds": 1.0}
        | {"read_bytes": read_bytes}
        for number in range(3)
        for name in ("q1", "q2")
    ]
    return case(*two(effect, disk_read=1.0), executions=executions(*rows))


def counted(**totals: float) -> dict[str, Any]:
    """What an engine counted in the measured part."""
    counters = [
        {"name": name, "total": total, "operations": {}, "to_try": None}
        for name, total in totals.items()
    ]
    return {"counters": counters, "shares": [], "series": []}


def copied(effect: float, misses: float = 3e5) -> Case:
    """Half of the pages are not in the engine's cache, and the system has them in memory."""
    counters = counted(
        buffer_hits=3e5,
        buffer_reads=misses,
        buffer_read_bytes=misses * 8192,
        block_read_seconds=WHOLE_S * effect,
    )
    times = passes({"q1": [WHOLE_S / 2, WHOLE_S / 2]})
    tables = {"pages": TableFacts(bytes=GIB)}
    return case(operation(cpu_user=1.0), counters=counters, executions=times, tables=tables)


def crowded(effect: float, misses: float = 3e5) -> Case:
    """Waits for latches beside a cache that misses half of its page requests."""
    counters = counted(
        buffer_requests=6e5,
        buffer_reads=misses,
        buffer_read_bytes=misses * 16384,
        free_page_waits=329.0,
    )
    tables = {"pages": TableFacts(bytes=GIB)}
    return case(*two(effect, latch=1.0), counters=counters, tables=tables)


def reopened(effect: float, overflows: float = 9e4) -> Case:
    """Sessions that open tables again which a small cache has closed."""
    counters = counted(
        table_cache_hits=1e5, table_cache_misses=1e5, table_cache_overflows=overflows
    )
    states = {"opening tables": round(effect * 1000), "executing": round((1 - effect) * 1000)}
    return case(operation(cpu_user=1.0), counters=counters, session_states=states)


def serial(effect: float, workers: str = "0") -> Case:
    """An operation that used one of so many cores that all of them would save the effect."""
    settings = {"max_parallel_workers_per_gather": workers}
    q1 = operation("q1", share=effect * 4 / 3, overrides={"seconds": 1.0}, cpu_user=1.0)
    rest = {"seconds": 1.0, "threads_at_work": 4.0}
    q2 = operation("q2", share=1 - effect * 4 / 3, parallelism=3.9, overrides=rest, cpu_user=1.0)
    return case(q1, q2, settings=settings)


def understaffed(effect: float, launched: float = 1.0) -> Case:
    """An operation that had one of four workers, so that it took two and a half times as long."""
    share = effect / 0.6
    gather = node(
        "exchange",
        node(seconds=1.0),
        seconds=0.0,
        workers_planned=4,
        workers_launched=launched,
    )
    q1 = operation("q1", share=share, parallelism=2.0, cpu_user=1.0)
    q2 = operation("q2", share=1 - share, parallelism=3.9, cpu_user=1.0)
    return case(q1, q2, plans=plans(plan(gather)))


def first(effect: float, extra: bool = True) -> Case:
    """No warm-up, and first executions so much longer that the excess is that part of the run."""
    later = [WHOLE_S * (1 - effect) / 4] * 4
    longer = WHOLE_S * effect if extra else 0.0
    rows = [
        {"phase": "measured", "pass": number, "operation": "q1", "seconds": seconds}
        | {"system_s": 0.1 + (number == 0) * longer / 2, "minor_faults": 1e5 if not number else 0}
        for number, seconds in enumerate([later[0] + longer, *later[1:]])
    ]
    return case(operation(cpu_user=1.0), executions=executions(*rows))


def logged(effect: float, log_bytes: float = GIB) -> Case:
    return case(*two(effect, disk_write=1.0), counters=counted(wal_bytes=log_bytes))


def of_nodes(cpu: list[float], barriers: Barriers | None = None, **grown: float) -> Case:
    """One operation on nodes with so much CPU time each; what they count they count alike."""
    figures = tuple(
        NodeFigures(f"n{at}", "worker", grown, used * WHOLE_S) for at, used in enumerate(cpu)
    )
    nodes = tuple(
        ClusterNode(figure.name, figure.role, "here", (at + 2,))
        for at, figure in enumerate(figures)
    )
    line = Line(WHOLE_S, together(figures), figures)
    cluster = Cluster(
        title="nodes",
        nodes=nodes,
        says={},
        missing={},
        platform_cores=float(len(cpu)),
        run=line,
        intervals=(),
        operations={"q1": line},
        barriers=barriers or Barriers(),
        uneven={"q1": skews_over([line], nodes)},
    )
    knob = {
        "setting": "batch",
        "about": "bytes of a batch",
        "low": "1MB",
        "high": "64MB",
        "choices": (),
        "effective": None,
        "scheduling": ("scheduling_ns",),
        "blocking": ("wait_ns", "blocked_ns"),
    }
    asked = {"workload": "tpch", "engine": "nodes", "scale": 1.0}
    busy = operation(parallelism=2.0, cpu_user=0.4, overrides={"seconds": WHOLE_S})
    return case(busy, cluster=cluster, knobs={"batch": knob}, request=asked)


def waiting_nodes(effect: float) -> Case:
    return of_nodes([1.0, 1.0], wait_ns=0.8 * effect, blocked_ns=0.2 * effect, task_ns=1.0)


def uneven_nodes(effect: float) -> Case:
    """One node is at work all the time, seven others for less."""
    others = (8 * (1 - effect) - 1) / 7
    return of_nodes([1.0, *[others] * 7])


def nodes_with_barriers(effect: float) -> Case:
    parts = 4
    each_s = effect * WHOLE_S / parts
    barriers = [Barrier("q1", 2.5 * at, 2.5 * at + each_s, 0.0, 2.0) for at in range(parts)]
    return of_nodes([1.0, 1.0], Barriers(tuple(barriers if effect else ()), 2.0, {"q1": WHOLE_S}))


def chatting_nodes(effect: float, message_bytes: float = 4096.0) -> Case:
    spent = effect / (1 - effect)
    messages = {"messages": 1e5, "bytes": 1e5 * message_bytes}
    return of_nodes([1.0, 1.0], scheduling_ns=spent, task_ns=1.0, **messages)


TRUTHS = (
    Truth(
        "spill",
        spilled,
        lambda effect: spilled(effect, 0),
        0.005,
        ("q1 spilled 1 GiB", "with work_mem 4MB", "sort", "70 %"),
        ("plan:q1", "setting:work_mem"),
        ("setting", "work_memory"),
    ),
    Truth(
        "misestimate",
        looped,
        lambda effect: looped(effect, rows=5),
        0.01,
        ("Scan of orders returned 10 k rows where 1 were estimated", "Index Scan", "70 %"),
        ("plan:q1",),
        ("statistics", "orders"),
    ),
    Truth(
        "stale-statistics",
        stale,
        lambda effect: stale(effect, 0.0),
        0.01,
        ("10 k rows of 1 M of orders changed", "70 %"),
        ("plan:q1",),
        ("statistics", "orders"),
    ),
    Truth(
        "missing-index",
        scanned,
        lambda effect: scanned(effect, kept=0.5),
        0.02,
        ("Scans of lines keep 0 of 1 M rows", "70 %"),
        ("plan:q1",),
        ("index", "lines"),
    ),
    Truth(
        "unused-index",
        lambda effect: unused(effect, "off"),
        lambda effect: unused(effect, "on"),
        0.02,
        ("Index lines_line of lines (line) is not used in q1: use_indexes is off", "70 %"),
        ("plan:q1", "catalogue:lines", "setting:use_indexes"),
        ("named-setting", "use_indexes"),
        "setting",
    ),
    Truth(
        "unused-index",
        lambda effect: hidden(effect, "((line)::numeric = 7.0)"),
        lambda effect: hidden(effect, "(other = 7)"),
        0.02,
        ("Index lines_line of lines (line)", "converts line: (line)::numeric", "70 %"),
        ("plan:q1", "catalogue:lines"),
        None,
        "conversion",
    ),
    Truth(
        "unused-index",
        lambda effect: hidden(effect, "(lower(line) = 'a'::text)"),
        lambda effect: hidden(effect, "(lower(other) = 'a'::text)"),
        0.02,
        ("calls a function of line: lower(line)", "70 %"),
        ("plan:q1", "catalogue:lines"),
        None,
        "function",
    ),
    Truth(
        "plan-changed",
        generic,
        lambda effect: generic(effect, factor=0.9),
        0.02,
        ("Statement 1 of q1 uses one generic plan for all parameter values", "10.0 s", "3.00 s"),
        ("plan:q1", "clock:q1"),
        ("named-setting", "plan_mode"),
    ),
    Truth(
        "index-filter",
        filtered,
        lambda effect: filtered(effect, kept=0.5),
        0.02,
        ("Index lines_line of lines finds 1 M rows in q1", "(kind = 3)", "70 %"),
        ("plan:q1", "catalogue:lines"),
        ("index", "lines"),
    ),
    Truth(
        "ordered-scan",
        ordered,
        lambda effect: ordered(effect, kept=0.5),
        0.02,
        ("q1 reads 1 M rows of lines in the order of lines_line to find 0", "70 %"),
        ("plan:q1", "catalogue:lines"),
        ("index", "lines"),
    ),
    Truth(
        "skipped-rows",
        skipping,
        lambda effect: skipping(effect, "select * from lines order by line limit 10000"),
        0.02,
        ("Large offset: q1 reads 10 k rows to return 10", "70 %"),
        ("plan:q1", "statement:q1"),
    ),
    Truth(
        "triggers",
        fired,
        lambda _: fired(0.0),
        0.02,
        ("70 % of the time was spent in foreign key orders_fk", "7.00 s for 3 calls in q1"),
        ("plan:q1",),
        ("index", "orders"),
    ),
    Truth(
        "columns-read",
        columns,
        lambda effect: columns(effect, unneeded=0),
        0.04,
        ("reads 10 columns of lines and uses 3", "70 %"),
        ("plan:q1",),
    ),
    Truth(
        "dead-rows",
        dead,
        lambda effect: dead(effect, share=0.1),
        0.02,
        ("90 % of the rows of bills are dead", "70 %"),
        ("plan:q1",),
        ("vacuum", "bills"),
    ),
    Truth(
        "jit",
        compiled,
        lambda effect: compiled(effect, compiling=False),
        0.05,
        ("Compiling queries took 70 %", "q1 (70 %)"),
        ("plan:q1", "setting:jit"),
        ("setting", "jit"),
    ),
    Truth(
        "optimiser",
        optimised,
        lambda effect: optimised(effect, planning=False),
        0.04,
        ("Parsing and planning took 70 %",),
        ("plan:q1",),
        ("prepared", "statements"),
    ),
    Truth(
        "parallelism",
        serial,
        lambda effect: serial(effect, workers="4"),
        0.03,
        ("ran on one of 4 cores", "max_parallel_workers_per_gather 0 prevents parallel execution"),
        ("where:q1", "setting:max_parallel_workers_per_gather"),
        ("setting", "parallel_workers"),
        "one core",
        (0.1, 0.2, 0.7),
    ),
    Truth(
        "parallelism",
        understaffed,
        lambda effect: understaffed(effect, launched=4.0),
        0.03,
        ("q1 had fewer parallel workers than planned",),
        ("plan:q1",),
        None,
        "workers",
        (0.2, 0.5),
    ),
    Truth(
        "client-bound",
        fetched,
        lambda effect: fetched(effect, rows=10),
        0.05,
        ("The server waited for its client for 70 %", "q1", "returned 100 k rows"),
        ("where:q1", "clock:q1"),
    ),
    Truth(
        "lock-wait",
        held_by_another,
        computed,
        0.02,
        ("70 % of the time", "a lock on seats", "session 99 (batch, idle in transaction", "12.0 s"),
        ("where:q1", "session:99"),
        None,
        "another session",
    ),
    Truth(
        "lock-wait",
        hot_row,
        computed,
        0.02,
        ("70 % of the time", "locked rows of seats", "update seats set taken = true"),
        ("where:q1", "session:11"),
        None,
        "hot row",
    ),
    Truth(
        "lock-wait",
        waited("lock"),
        computed,
        0.02,
        ("70 % of the time", "was spent waiting for locks"),
        ("where:q1",),
        None,
        "lock",
    ),
    Truth(
        "lock-wait",
        waited("latch"),
        computed,
        0.02,
        ("70 % of the time", "was spent waiting for latches"),
        ("where:q1",),
        None,
        "latch",
    ),
    Truth(
        "throttled",
        waited("throttled"),
        computed,
        0.02,
        ("A CPU limit stopped the engine for 70 %",),
        ("where:q1",),
    ),
    Truth(
        "steal",
        waited("stolen"),
        computed,
        0.04,
        ("The hypervisor took 70 %",),
        ("where:q1",),
        None,
        "hypervisor",
    ),
    Truth(
        "steal",
        neighboured,
        lambda effect: neighboured(effect, background_s=1.0),
        0.04,
        ("waited for a CPU for 70 % of the time, while other processes used 22 %",),
        ("where:q1", "check:background_load"),
        None,
        "neighbours",
    ),
    Truth(
        "cold-cache",
        from_storage,
        lambda effect: from_storage(effect, read_bytes=0.0),
        0.04,
        ("Waiting for reads from storage took 70 % of the time", "pass after pass"),
        ("where:q1", "timeline"),
    ),
    Truth(
        "memory-limit",
        fenced,
        lambda effect: fenced(effect, hits=0.0),
        0.04,
        ("The memory limit of 1 GiB (--limit memory)", "met 5 k times", "70 % of the time"),
        ("where:q1", "timeline", "setting:memory"),
        ("limit", "memory"),
    ),
    Truth(
        "small-cache",
        copied,
        lambda effect: copied(effect, misses=1e3),
        0.02,
        ("missed 50 % of its page requests with shared_buffers 128MB", "70 %"),
        ("counter:buffer_hits", "setting:shared_buffers"),
        ("setting", "cache"),
    ),
    Truth(
        "page-waits",
        crowded,
        lambda effect: crowded(effect, misses=1e3),
        0.02,
        ("70 % of the time", "latches of the engine's cache", "missed 50 %", "128MB"),
        ("where:q1", "counter:buffer_hits", "counter:free_page_waits"),
        ("setting", "cache"),
    ),
    Truth(
        "table-cache",
        reopened,
        lambda effect: reopened(effect, overflows=0.0),
        0.02,
        ("missed 50 % of its requests", "100 k tables were opened again", "70 % of the time"),
        ("counter:table_cache_overflows", "session:load"),
    ),
    Truth(
        "first-run",
        first,
        lambda effect: first(effect, extra=False),
        0.02,
        (
            "First executions took 7.00 s longer",
            "50 % of the difference is kernel time",
            "100 k more page",
        ),
        ("timeline",),
    ),
    Truth(
        "stalls",
        logged,
        lambda effect: logged(effect, log_bytes=0.0),
        0.04,
        (
            (
                "70 % of the time was waiting for writes and syncs, while 1 GiB were written to "
                "the log"
            ),
        ),
        ("where:q1", "counter:wal_bytes"),
    ),
    Truth(
        "node-waits",
        waiting_nodes,
        lambda _: waiting_nodes(0.0),
        0.03,
        (
            "Tasks waited for other nodes for 70 % of the time, most in q1",
            "waiting for data from other nodes",
        ),
        ("cluster",),
    ),
    Truth(
        "node-skew",
        uneven_nodes,
        lambda _: uneven_nodes(0.0),
        0.04,
        ("Node n0 used 3.33 times the mean CPU time", "would save 70 % of the time"),
        ("cluster",),
    ),
    Truth(
        "barriers",
        nodes_with_barriers,
        lambda _: nodes_with_barriers(0.0),
        0.02,
        ("All nodes were idle at barriers", "most in q1", "70 %"),
        ("cluster",),
    ),
    Truth(
        "small-messages",
        chatting_nodes,
        lambda effect: chatting_nodes(effect, message_bytes=1e6),
        0.03,
        ("Scheduling took 70 % of the time of tasks, with messages of 4 KiB", "most in q1"),
        ("cluster",),
    ),
)
