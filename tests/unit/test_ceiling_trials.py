"""Which trials are made, in which order, and where."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from assay.model.errors import UsageError
from assay.study.ceiling.place import check_place, describe_medium
from assay.study.ceiling.trials import (
    CeilingRequest,
    Machine,
    array_bytes,
    in_order,
    thread_counts,
    trials,
)

MACHINE = Machine(
    cpus=4,
    memory_bytes=64 << 30,
    last_cache_bytes=32 << 20,
    direct_align_bytes=512,
    has_ring=True,
)
REQUEST = CeilingRequest(Path("/data"))


def of_disk(request: CeilingRequest = REQUEST, machine: Machine = MACHINE) -> list[dict]:
    return [dict(trial.facts) for trial in trials(request, machine) if trial.of == "disk"]


class TestTrials:
    def test_sizes_patterns_and_depths_are_all_tried(self) -> None:
        reads = [t for t in of_disk() if t["operation"] == "read" and t["cache"] == "direct"]
        tried = {(t["size_bytes"], t["pattern"], t["depth"]) for t in reads}
        assert len(reads) == len(tried) == 13 * 2 * 4
        assert {size for size, _, _ in tried} == {512 << power for power in range(13)}

    def test_one_at_a_time_needs_no_ring(self) -> None:
        assert {(t["depth"] > 1) == (t["method"] == "io_uring") for t in of_disk()} == {True}

    def test_without_a_ring_threads_make_the_requests(self) -> None:
        asked = of_disk(machine=replace(MACHINE, has_ring=False))
        assert {t["method"] for t in asked} == {"pread"}
        assert len(asked) == len(of_disk())

    def test_sizes_that_the_disk_does_not_take_are_left_out(self) -> None:
        asked = of_disk(machine=replace(MACHINE, direct_align_bytes=4096))
        assert min(t["size_bytes"] for t in asked if t["cache"] == "direct") == 4096
        assert min(t["size_bytes"] for t in asked if t["cache"] == "buffered") == 512

    def test_a_quick_sweep_is_a_part_of_the_whole(self) -> None:
        quick = replace(REQUEST, quick=True)
        whole, part = (
            [str(sorted(t.facts.items())) for t in trials(request, MACHINE)]
            for request in (REQUEST, quick)
        )
        assert set(part) < set(whole)
        assert len(part) < len(whole) / 2

    def test_parts_may_be_left_out(self) -> None:
        request = replace(REQUEST, parts=("memory", "core"))
        assert {trial.of for trial in trials(request, MACHINE)} == {"memory", "core"}

    def test_each_is_asked_as_the_core_understands_it(self) -> None:
        asked = trials(REQUEST, MACHINE)[0].asked(2, 0.25)
        assert (asked["round"], asked["time_ns"]) == (2, 250_000_000)


class TestOrder:
    def test_every_round_has_each_trial_once_in_an_order_of_its_own(self) -> None:
        rounds: dict[int, list[str]] = {}
        for number, trial in in_order(REQUEST, MACHINE):
            rounds.setdefault(number, []).append(f"{trial.of} {sorted(trial.facts.items())}")
        assert sorted(rounds) == [1, 2, 3, 4, 5]
        assert len({tuple(sorted(names)) for names in rounds.values()}) == 1
        assert len({tuple(names) for names in rounds.values()}) == 5
        assert set(Counter(rounds[1]).values()) == {1}

    def test_the_seed_draws_it(self) -> None:
        def order(seed: int) -> list[str]:
            request = replace(REQUEST, seed=seed)
            return [str(trial.facts) for _, trial in in_order(request, MACHINE)]

        assert order(1) == order(1)
        assert order(1) != order(2)


class TestMachine:
    @pytest.mark.parametrize(
        ("cpus", "counts"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])]
    )
    def test_threads_double_up_to_all_cpus(self, cpus: int, counts: list[int]) -> None:
        assert thread_counts(cpus) == counts

    def test_arrays_are_larger_than_the_cache_and_leave_memory_to_others(self) -> None:
        assert array_bytes(MACHINE) == 4 * (32 << 20)
        assert array_bytes(replace(MACHINE, last_cache_bytes=None)) == 64 << 20
        small = replace(MACHINE, memory_bytes=1 << 30)
        assert array_bytes(small) * 3 * small.cpus <= (1 << 30) / 4


class TestPlace:
    def test_memory_is_no_disk(self) -> None:
        if not os.access("/dev/shm", os.W_OK):  # noqa: S108
            pytest.skip("no tmpfs at /dev/shm")
        with pytest.raises(UsageError, match=r"which is in memory, .*--dir"):
            check_place(Path("/dev/shm"), 1)  # noqa: S108

    def test_what_is_not_there_is_no_place(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="is not a directory:"):
            check_place(tmp_path / "gone", 1)

    def test_more_than_the_disk_has_is_refused_before_anything_is_written(
        self, tmp_path: Path
    ) -> None:
        with pytest.raises(UsageError, match=r"needs 1.02e\+03 TiB|1024 TiB.*--size"):
            check_place(tmp_path, 1 << 50)
        assert list(tmp_path.iterdir()) == []

    def test_others_keep_some_room(self, tmp_path: Path) -> None:
        filesystem = os.statvfs(tmp_path)
        free = filesystem.f_bavail * filesystem.f_frsize
        with pytest.raises(UsageError, match="must leave 1"):
            check_place(tmp_path, free, spare_bytes=1 << 30)

    def test_a_file_system_without_direct_reads_is_refused(self, monkeypatch, tmp_path) -> None:
        real = os.open

        def refusing(path: object, flags: int, mode: int = 0o777) -> int:
            if flags & os.O_DIRECT:
                raise OSError(22, "Invalid argument")
            return real(path, flags, mode)

        monkeypatch.setattr(os, "open", refusing)
        with pytest.raises(UsageError, match="without O_DIRECT"):
            check_place(tmp_path, 1)

    def test_a_medium_is_described_where_there_is_one(self) -> None:
        assert describe_medium(None) is None
        assert describe_medium({"disks": ["sda", "sdb"]}) is None
        medium = describe_medium({"disks": ["no such disk"]})
        assert medium is not None
        assert (medium["name"], medium["driver"], medium["model"]) == ("no such disk", None, None)
