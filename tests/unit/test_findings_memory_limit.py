"""The range of the time that a memory limit costs, beside the waiting for reads."""

from __future__ import annotations

import pytest

from assay.analysis.findings.memory import memory_limit
from assay.analysis.host.limits import LimitUse
from tests.cases import case, operation

LIMIT = LimitUse("memory", 1.5e8, 1.5e8, 1.5e8, 4.1, 33635.0, binding=True)
# SQLite 3.54.1 with 150 MB of memory, a file of 440 MB, random reads and other programs; without
# the limit, the operation took 15 % of this time.
RECORDED = {
    "cpu_user": 0.0587,
    "cpu_system": 0.1369,
    "run_queue": 0.6048,
    "stolen": 0.0198,
    "disk_read": 0.0813,
}
SAVED = 0.85


def test_the_work_of_the_kernel_for_reads_is_part_of_the_greatest_saving() -> None:
    run_case = case(operation(**RECORDED), memory_limit=LIMIT, data_bytes=4.4e8)
    (finding,) = memory_limit.find(run_case)
    assert finding.effect_share == pytest.approx(0.0813)
    assert finding.saved is not None
    least, most = finding.saved
    assert least == pytest.approx(0.0813)
    assert least < SAVED < most < 1.0
    assert "took 8.1 % of the time; the kernel's work for these reads" in finding.claim


def test_an_operation_that_reads_nothing_saves_nothing() -> None:
    """The other operation computes, waits for a CPU, and finds its data in memory."""
    reads = operation("reads", share=0.5, disk_read=0.9, cpu_user=0.1)
    busy = operation("busy", share=0.5, cpu_system=0.5, run_queue=0.5)
    (finding,) = memory_limit.find(case(reads, busy, memory_limit=LIMIT, data_bytes=4.4e8))
    assert finding.saved == (pytest.approx(0.45), pytest.approx(0.45))
    assert "at most" not in finding.claim
