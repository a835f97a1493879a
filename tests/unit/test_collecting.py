"""Pauses of a server in Java, of its log."""

from __future__ import annotations

from pathlib import Path

from assay.engines.collecting import CollectionsReader

YOUNG = (
    "[1.204s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.250ms\n"
)
FULL = "[9.870s][info][gc] GC(8) Pause Full (Allocation Failure) 93M->71M(96M) 120.500ms\n"
REMARK = "[2.000s][info][gc] GC(1) Pause Remark 31M->31M(96M) 1.000ms\n"
CONCURRENT = "[2.100s][info][gc] GC(1) Concurrent Mark Cycle 90.100ms\n"
USING = "[0.011s][info][gc] Using G1\n"


def counted(reader: CollectionsReader) -> dict[str, float]:
    return {counter: value for _, _, counter, value in reader.read()}


def test_pauses_are_summed_and_the_heap_is_of_the_last(tmp_path: Path) -> None:
    log = tmp_path / "collections.log"
    reader = CollectionsReader(log)
    log.write_text(USING + YOUNG + CONCURRENT)
    assert counted(reader) == {
        "pauses": 1,
        "paused_ns": 3_250_000,
        "used_after_bytes": 4 << 20,
        "size_bytes": 256 << 20,
    }
    with log.open("a") as more:
        more.write(REMARK + FULL[:40])
    assert counted(reader)["pauses"] == 2
    with log.open("a") as more:
        more.write(FULL[40:])
    counters = counted(reader)
    assert (counters["pauses"], counters["paused_ns"]) == (3, 124_750_000)
    assert (counters["used_after_bytes"], counters["size_bytes"]) == (71 << 20, 96 << 20)


def test_a_log_that_is_not_there_yet_has_no_rows(tmp_path: Path) -> None:
    assert CollectionsReader(tmp_path / "none").read() == []
