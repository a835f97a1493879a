"""Distances are from the end of one read to the begin of the next, within an execution."""

from __future__ import annotations

from typing import Any

import pytest

from assay.analysis.host.contiguity import ALL, Contiguity, contiguity, traced_devices
from tests.conftest import BEGUN_NS, MS, SyntheticRun, an_event

KIB = 1 << 10
PAGE = 8 * KIB
EVENT_MS = 100
# Of the processes of the synthetic run, one is the engine's.
ENGINE_PID, OTHER_PID = 100, 101


def a_read(begin_bytes: int, rwbs: str = "R", device: str = "vda") -> dict[str, Any]:
    place = {"sector": begin_bytes // 512, "bytes": PAGE}
    return place | {"device": device, "rwbs": rwbs, "pid": ENGINE_PID, "tid": ENGINE_PID}


def pages(*numbers: int) -> list[dict[str, Any]]:
    return [a_read(number * PAGE) for number in numbers]


def contiguity_of(synthetic: SyntheticRun, *executions: list[dict[str, Any]]) -> Contiguity:
    """One execution after the other, its requests a millisecond apart."""
    begins = [BEGUN_NS + place * 2 * EVENT_MS * MS for place in range(len(executions))]
    synthetic.events = [
        an_event(place, "ab"[place % 2], begin, EVENT_MS) for place, begin in enumerate(begins)
    ]
    synthetic.streams["requests"] = [
        request | {"time_ns": begin + (place + 1) * MS}
        for begin, requests in zip(begins, executions, strict=True)
        for place, request in enumerate(requests)
    ]
    synthetic.environment = {"host": {"data_device": {"name": "vda", "kind": "disk"}}}
    read_contiguity = contiguity(synthetic.write())
    assert read_contiguity is not None
    return read_contiguity


def row(read_contiguity: Contiguity, operation: str = ALL) -> dict[str, Any]:
    rows = read_contiguity.operations.rows(named=True)
    return next(table_row for table_row in rows if table_row["operation"] == operation)


class TestContiguity:
    def test_shares_of_reads_by_how_they_follow(self, synthetic: SyntheticRun) -> None:
        """Sequential, then 64 KiB ahead, then far back: a third each."""
        table_row = row(contiguity_of(synthetic, pages(1000, 1001, 1010, 3)))
        shares = [table_row[f"{kind}_share"] for kind in ("sequential", "near", "random")]
        assert shares == pytest.approx([1 / 3] * 3)
        assert (table_row["reads"], table_row["read_bytes"], table_row["mean_read_bytes"]) == (
            4,
            4 * PAGE,
            PAGE,
        )

    def test_runs_are_of_reads_that_go_on(self, synthetic: SyntheticRun) -> None:
        read_contiguity = contiguity_of(synthetic, pages(10, 11, 12, 50, 51, 9))
        assert (row(read_contiguity)["runs"], row(read_contiguity)["mean_run_reads"]) == (3, 2.0)
        lengths = read_contiguity.run_lengths.filter(operation=ALL).drop("operation").rows()
        assert lengths == [(1, 1, 1, PAGE), (2, 1, 2, 2 * PAGE), (4, 1, 3, 3 * PAGE)]

    def test_streams_that_take_turns_are_near_a_recent_read(self, synthetic: SyntheticRun) -> None:
        turns = [
            page for pair in zip(range(9), range(10**6, 10**6 + 9), strict=True) for page in pair
        ]
        table_row = row(contiguity_of(synthetic, pages(*turns)))
        assert (table_row["sequential_share"], table_row["random_share"]) == (0.0, 1.0)
        assert table_row["near_recent_share"] == pytest.approx(16 / 17)

    def test_distances_are_in_classes_forwards_and_backwards(self, synthetic: SyntheticRun) -> None:
        read_contiguity = contiguity_of(synthetic, pages(100, 101, 103, 100, 100 + 10**5))
        rows = read_contiguity.distances.filter(operation=ALL).drop("operation").rows()
        assert rows == [
            (False, 32 * KIB, 1),
            (True, 0, 1),
            (True, 32 * KIB, 1),
            (True, 4 << 30, 1),
        ]

    def test_an_execution_does_not_go_on_where_another_ended(self, synthetic: SyntheticRun) -> None:
        read_contiguity = contiguity_of(synthetic, pages(1, 2), pages(3, 4, 90), pages(5, 6))
        assert row(read_contiguity, "a")["sequential_share"] == 1.0
        assert row(read_contiguity, "a")["runs"] == 2
        assert row(read_contiguity, "b")["sequential_share"] == 0.5
        assert row(read_contiguity)["reads"] == 7

    def test_writes_and_other_devices_are_no_reads_of_it(self, synthetic: SyntheticRun) -> None:
        others = [a_read(PAGE, "WS"), a_read(2 * PAGE, device="loop0"), a_read(3 * PAGE, "FF")]
        table_row = row(contiguity_of(synthetic, [*pages(0), *others, a_read(PAGE, "RA")]))
        assert (
            table_row["reads"],
            table_row["sequential_share"],
            table_row["read_ahead_share"],
        ) == (2, 1.0, 0.5)

    def test_reads_of_others_are_counted_and_left_out(self, synthetic: SyntheticRun) -> None:
        """What a thread of the kernel handed over is taken for the engine's."""
        foreign = a_read(90 * PAGE) | {"pid": OTHER_PID}
        queued = a_read(PAGE) | {"pid": None}
        read_contiguity = contiguity_of(synthetic, [*pages(0), foreign, queued, *pages(2)])
        assert (row(read_contiguity)["reads"], row(read_contiguity)["sequential_share"]) == (3, 1.0)
        assert read_contiguity.others_reads == 1

    def test_where_the_engine_is_not_known_all_are_told(self, synthetic: SyntheticRun) -> None:
        del synthetic.streams["processes"]
        read_contiguity = contiguity_of(synthetic, [*pages(0), a_read(PAGE) | {"pid": OTHER_PID}])
        assert (row(read_contiguity)["reads"], read_contiguity.others_reads) == (2, None)

    def test_one_read_has_no_distance(self, synthetic: SyntheticRun) -> None:
        table_row = row(contiguity_of(synthetic, pages(8)))
        assert (table_row["reads"], table_row["sequential_share"], table_row["mean_run_reads"]) == (
            1,
            None,
            1.0,
        )

    def test_no_read_at_all_is_an_empty_table(self, synthetic: SyntheticRun) -> None:
        assert contiguity_of(synthetic, [a_read(0, "W")]).operations.is_empty()

    def test_a_run_that_was_not_traced_has_none(self, synthetic: SyntheticRun) -> None:
        assert contiguity(synthetic.write(), "vda") is None

    def test_requests_of_a_partition_are_its_disks(self, synthetic: SyntheticRun) -> None:
        device = {"name": "vda1", "kind": "partition", "disks": ["vda"]}
        synthetic.environment = {"host": {"data_device": device}}
        assert traced_devices(synthetic.write()) == ("vda",)

    def test_requests_of_a_loop_device_are_its_own(self, synthetic: SyntheticRun) -> None:
        device = {"name": "loop3", "kind": "loop", "disks": ["vda"]}
        synthetic.environment = {"host": {"data_device": device}}
        assert traced_devices(synthetic.write()) == ("loop3",)
