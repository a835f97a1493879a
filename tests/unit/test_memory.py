"""Memory is an operation's own where nothing else ran, and what processes share counts once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from assay.analysis.host.memory import Peak, engine_samples, memory_peaks
from assay.engines.postgresql import plans as postgresql
from tests.conftest import BEGUN_NS, MS, an_event
from tests.plans import plan_of

if TYPE_CHECKING:
    from tests.conftest import SyntheticRun

MIB = 1 << 20


def process(
    at_ms: float, pid: int, rss: int, shared: int = 0, pss: int | None = None, **other: Any
) -> dict[str, Any]:
    """A row of a process, its memory in MiB."""
    sizes = {"rss_bytes": rss, "rss_shared_bytes": shared, "pss_bytes": pss}
    sizes_bytes = {key: None if size is None else size * MIB for key, size in sizes.items()}
    return (
        {"time_ns": BEGUN_NS + round(at_ms * MS), "pid": pid, "account": "engine"}
        | sizes_bytes
        | other
    )


def operations(run: SyntheticRun, *times_ms: tuple[str, float, float]) -> None:
    """Measured operations of which each has a begin and a length."""
    run.events = [
        an_event(number, name, BEGUN_NS + round(begin * MS), wall)
        for number, (name, begin, wall) in enumerate(times_ms)
    ]


def test_shared_memory_counts_once_and_proportional_memory_adds_up(synthetic: SyntheticRun) -> None:
    synthetic.streams["processes"] = [
        process(5, 1, rss=110, shared=100, pss=60),
        process(5, 2, rss=120, shared=100, pss=70),
        process(5, 3, rss=900, pss=900, account="probes"),
    ]
    assert engine_samples(synthetic.write()).rows() == [(BEGUN_NS + 5 * MS, 130 * MIB, 130 * MIB)]


def test_a_sample_is_of_the_operation_it_fell_into(synthetic: SyntheticRun) -> None:
    operations(synthetic, ("a", 0, 10), ("b", 20, 10), ("a", 40, 10))
    synthetic.streams["processes"] = [
        process(5, 1, rss=100, pss=90),
        process(15, 1, rss=999),
        process(25, 1, rss=200),
        process(45, 1, rss=150, pss=80),
    ]
    each, whole = memory_peaks(synthetic.write())
    assert each == {"a": Peak(150 * MIB, 90 * MIB), "b": Peak(200 * MIB, None)}
    assert whole == Peak(999 * MIB, 90 * MIB)


def test_the_kernels_own_mark_goes_before_samples(synthetic: SyntheticRun) -> None:
    operations(synthetic, ("a", 0, 10))
    synthetic.streams["processes"] = [process(5, 1, rss=100, pss=70)]
    synthetic.streams["tasks"] = [
        {"sequence": 0, "edge": "start", "time_ns": BEGUN_NS},
        {
            "sequence": 0,
            "edge": "end",
            "time_ns": BEGUN_NS + 10 * MS,
            "rss_bytes": 80 * MIB,
            "rss_peak_bytes": 95 * MIB,
            "pss_bytes": 75 * MIB,
        },
    ]
    each, _ = memory_peaks(synthetic.write())
    assert each == {"a": Peak(95 * MIB, 75 * MIB)}


def test_a_server_has_the_reading_at_the_end_beside_its_samples(synthetic: SyntheticRun) -> None:
    operations(synthetic, ("a", 0, 10))
    synthetic.streams["processes"] = [process(5, 1, rss=100)]
    end = {"sequence": 0, "edge": "end", "time_ns": BEGUN_NS + 10 * MS, "rss_peak_bytes": None}
    synthetic.streams["tasks"] = [end | {"rss_bytes": 120 * MIB, "pss_bytes": None}]
    each, _ = memory_peaks(synthetic.write())
    assert each == {"a": Peak(120 * MIB)}


def test_a_test_has_the_readings_of_its_untimed_pass(synthetic: SyntheticRun) -> None:
    operations(synthetic, ("a", 0, 10), ("rf", 10, 5), ("a", 20, 10), ("b", 30, 5))
    phases = ["power-1", "power-1", "after", "after"]
    for event, phase in zip(synthetic.events, phases, strict=True):
        event["phase"] = phase
    synthetic.streams["processes"] = [process(5, 1, rss=100), process(25, 1, rss=999)]
    ends = {0: (95, None), 1: (90, None), 2: (500, 70), 3: (500, 80)}
    synthetic.streams["tasks"] = [
        {"sequence": sequence, "edge": "end", "time_ns": BEGUN_NS}
        | {"rss_peak_bytes": rss * MIB, "pss_bytes": None if pss is None else pss * MIB}
        for sequence, (rss, pss) in ends.items()
    ]
    each, _ = memory_peaks(synthetic.write())
    assert each == {"a": Peak(95 * MIB, 70 * MIB), "rf": Peak(90 * MIB)}


def test_of_operations_at_once_only_the_whole_is_known(synthetic: SyntheticRun) -> None:
    operations(synthetic, ("a", 0, 10), ("b", 5, 10))
    synthetic.streams["processes"] = [process(7, 1, rss=100, pss=90)]
    each, whole = memory_peaks(synthetic.write())
    assert each == {}
    assert whole == Peak(100 * MIB, 90 * MIB)


def test_records_from_before_have_no_proportional_memory(synthetic: SyntheticRun) -> None:
    operations(synthetic, ("a", 0, 10))
    del synthetic.streams["processes"]
    assert memory_peaks(synthetic.write()) == ({}, Peak())


def test_under_a_load_only_the_whole_is_known(synthetic: SyntheticRun) -> None:
    operations(synthetic, ("a", 0, 10), ("b", 20, 10))
    synthetic.streams["processes"] = [process(5, 1, rss=100, pss=90)]
    each, whole = memory_peaks(synthetic.write(), under_load=True)
    assert each == {}
    assert whole == Peak(100 * MIB, 90 * MIB)


def test_postgresql_adds_up_what_its_nodes_held_in_memory() -> None:
    assert plan_of("postgresql", "hash-batches-18").memory_bytes == 154 * 1024
    # Sorts and groups of the leader and two workers, and rows that two scans kept.
    kib = (116 + 83 + 118) + (625 + 337 + 625) + (63 + 63)
    assert plan_of("postgresql", "tpch-q15-18").memory_bytes == kib * 1024


def test_what_went_to_disk_is_no_memory() -> None:
    node = {"Node Type": "Sort", "Actual Loops": 1, "Actual Rows": 1, "Sort Space Used": 9}
    plan_document = {"Plan": node | {"Sort Space Type": "Disk", "Actual Total Time": 1.0}}
    assert postgresql.normalised(json.dumps([plan_document]), "q", 0, "f").memory_bytes is None


def test_duckdb_tells_it_itself() -> None:
    memory_bytes = plan_of("duckdb", "tpch-q18").memory_bytes
    assert memory_bytes is not None
    assert memory_bytes > 0
