"""Programs beside the run on the same host: who they are, and when a disk or a CPU is theirs."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from assay.analysis.findings.case import Case
from assay.analysis.findings.host import other_disk_load, steal
from assay.analysis.host.accounts import Accounts
from assay.analysis.host.disk_use import DiskUse
from assay.analysis.host.neighbours import neighbours
from assay.model.neighbour import Neighbour
from tests.cases import case, operation, passes
from tests.truths import neighboured, two

MIB = 1 << 20
BACKUP = Neighbour("backup-writer", (71, 72), 2.0, 300.0 * MIB)
LOOKS = {
    "time_ns": pl.Int64,
    "pid": pl.UInt32,
    "started_ns": pl.UInt64,
    "comm": pl.String,
    "cpu_ns": pl.UInt64,
    "read_bytes": pl.UInt64,
    "write_bytes": pl.UInt64,
}


def looks(*rows: tuple[int, int, str, int, int | None]) -> pl.DataFrame:
    """Rows of (time, pid, name, CPU seconds, MiB written)."""
    made = [
        (time_s, pid, 1, name, cpu_s * 10**9, None if mib is None else 0, mib and mib * MIB)
        for time_s, pid, name, cpu_s, mib in rows
    ]
    return pl.DataFrame(made, schema=LOOKS, orient="row")


FOLLOWED = pl.DataFrame(
    {"pid": [5], "started_ns": [1]},
    schema={k: LOOKS[k] for k in LOOKS if k in ("pid", "started_ns")},
)


class TestNeighbours:
    def test_what_a_program_used_in_the_window_is_counted_over_its_processes(self) -> None:
        frame = looks(
            (0, 71, "backup", 10, 100),
            (4, 71, "backup", 12, 130),
            # It began within the window.
            (6, 72, "backup", 1, 5),
            # After the window.
            (20, 71, "backup", 90, 900),
        )
        (only,) = neighbours(frame, FOLLOWED, (2, 10))
        assert only == Neighbour("backup", (71, 72), 3.0, 35.0 * MIB)

    def test_processes_of_the_run_and_idle_ones_are_none(self) -> None:
        frame = looks((0, 5, "postgres", 1, 1), (4, 5, "postgres", 3, 9), (0, 9, "cron", 2, 2))
        assert neighbours(frame, FOLLOWED, (2, 10)) == ()

    def test_a_worker_that_only_looks_at_threads_saw_is_none(self) -> None:
        told = looks((4, 61, "postgres", 1, 0), (4, 71, "backup", 2, 9))
        besides = pl.Series([61], dtype=pl.UInt32)
        found = neighbours(told, FOLLOWED, (2, 10), besides)
        assert [neighbour.name for neighbour in found] == ["backup"]

    def test_bytes_that_may_not_be_read_are_absent(self) -> None:
        frame = looks((0, 8, "other", 1, None), (4, 8, "other", 3, None))
        (only,) = neighbours(frame, FOLLOWED, (2, 10))
        assert (only.cpu_s, only.moved_bytes) == (2.0, None)

    def test_many_processes_are_told_by_the_first(self) -> None:
        assert Neighbour("cc1", (1,), 1.0).text == "cc1 (process 1)"
        assert Neighbour("cc1", (1, 2, 3, 4), 1.0).text == "cc1 (4 processes: 1, 2, 3, ...)"


def beside(effect: float, *others: Neighbour, moved_mib: float = 400.0, busy: float = 0.6) -> Case:
    disk = DiskUse("vda", 10.0, moved_mib * MIB, busy)
    return replace(case(*two(effect, log=1.0)), neighbours=others, disk=disk)


class TestOtherDiskLoad:
    def test_the_program_and_the_disk_are_named(self) -> None:
        (finding,) = other_disk_load.find(beside(0.4, BACKUP))
        assert finding.effect_share == pytest.approx(0.4)
        assert (finding.part, finding.saved) == ("log", (0.0, pytest.approx(0.4)))
        assert "backup-writer (2 processes: 71, 72), read and wrote 300 MiB" in finding.claim
        assert {evidence.witness for evidence in finding.evidence} == {"wait", "session", "counter"}

    @pytest.mark.parametrize(
        "quiet",
        [
            beside(0.4),
            beside(0.04, BACKUP),
            # The engine itself moved most.
            beside(0.4, BACKUP, moved_mib=4000.0),
            # They used another disk, or dirtied what was never written.
            beside(0.4, BACKUP, moved_mib=100.0),
            beside(0.4, BACKUP, busy=0.1),
            # The host's own housekeeping.
            beside(0.4, replace(BACKUP, moved_bytes=MIB), moved_mib=1.0),
            beside(0.4, replace(BACKUP, moved_bytes=None)),
        ],
    )
    def test_nobody_is_blamed_without_cause(self, quiet: Case) -> None:
        assert other_disk_load.find(quiet) == []


def test_neighbours_of_the_cpus_are_named() -> None:
    others = (Neighbour("batch-encoder", (7,), 80.0), Neighbour("cron", (8,), 1.0))
    (finding,) = steal.find(replace(neighboured(0.7), neighbours=others))
    assert finding.claim.endswith("batch-encoder (process 7)")
    assert any(evidence.at == "process:batch-encoder" for evidence in finding.evidence)


@pytest.mark.parametrize(("clients", "effect"), [(1, 0.9), (20, 0.9 * 0.14)])
def test_a_queue_of_the_runs_own_clients_is_not_the_neighbours_doing(
    clients: int, effect: float
) -> None:
    """Others took 14 % of two CPUs: a crowd of clients would wait nearly as long without them."""
    window_s, cpus = 10.0, 2
    others_s = 0.14 * window_s * cpus
    seconds = [window_s] * clients if clients > 1 else [0.3 * window_s]
    accounts = Accounts(window_s, cpus, {"engine": 10.0}, 10.0 + others_s, 10.0 - others_s, None)
    queued = operation(run_queue=0.9, cpu_user=0.1)
    (finding,) = steal.find(case(queued, accounts=accounts, executions=passes({"q1": seconds})))
    assert finding.effect_share == pytest.approx(effect)
