"""The driver's own part of latencies is told, and doubted from its threshold on."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from assay.checks import driver_lag, thresholds
from assay.model.verdict import Verdict
from assay.record.reader import Run
from assay.report.document import document
from assay.report.page.run import page
from assay.report.terminal.load import load_figures
from tests.loads import an_operation, open_load, write_load
from tests.records import MS, S
from tests.unit.test_checks import UNKNOWN, VALID, checked


def lagging(root: Path, lag_ns: int | None, latency_ns: int = 4 * MS) -> Run:
    rows = [an_operation(n, n * MS, 0, latency_ns) for n in range(1000)]
    for row in rows:
        row["lag_ns"] = lag_ns if row["sequence"] % 10 == 0 else 0
    return Run(write_load(root, open_load(1_000, 8), rows, 1.0))


@pytest.mark.parametrize(
    ("share", "latency_ns", "verdict"),
    [
        (thresholds.DRIVER_LAG_SHARE_MAX - 0.01, 4 * MS, VALID),
        (thresholds.DRIVER_LAG_SHARE_MAX + 0.01, 4 * MS, UNKNOWN),
        (0.9, round(thresholds.DRIVER_LAG_S_MIN * S), VALID),
    ],
)
def test_the_thresholds_are_the_border(
    tmp_path: Path, share: float, latency_ns: int, verdict: Verdict
) -> None:
    run = lagging(tmp_path, round(share * latency_ns), latency_ns)
    result = checked(driver_lag, run, verdict)
    assert result.value == pytest.approx(share, rel=1e-3)
    assert result.measured


def test_it_is_told_beside_latency(tmp_path: Path) -> None:
    run = lagging(tmp_path, 1 * MS)
    told = document(run, run.dir)
    assert told["metrics"]["driver_lag_seconds_p50"] == 0.0
    assert told["metrics"]["driver_lag_seconds_p99"] == pytest.approx(0.001)
    assert told["metrics"]["driver_lag_seconds_max"] == pytest.approx(0.001)
    assert "driver lag p50 0 s, p99 1 ms, max 1 ms" in (load_figures(told) or [])
    assert "Driver lag, which is part of latency: p50 0 s, p99 1 ms" in page(run, told)


def test_a_record_without_it_says_so(tmp_path: Path) -> None:
    run = lagging(tmp_path, 0)
    events = run.dir / "raw" / "events.arrows"
    without = run.table("events").drop("lag_ns").to_arrow()
    with pa.ipc.new_stream(str(events), without.schema) as writer:
        writer.write_table(without)
    result = checked(driver_lag, Run(run.dir), VALID)
    assert not result.measured
    assert "driver lag not measured: an older version of Assay made the run" in result.reason
    told = document(Run(run.dir), run.dir)
    assert told["metrics"]["driver_lag_seconds_p99"] is None
    assert not any("lag" in figure for figure in load_figures(told) or [])
    assert "Driver lag not measured: an older version of Assay made the run" in page(run, told)
