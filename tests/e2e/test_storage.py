"""A cold run tells what each query read of the data's device, and request by request, how."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.analysis.host.contiguity import traced_devices
from assay.analysis.host.operation_reads import operation_reads
from assay.record.reader import Run
from tests.e2e.conftest import run_once


@pytest.fixture(scope="module")
def cold(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, dict[str, Any]]:
    """A cold run of which every request was to be traced, and what it tells of its disk."""
    options = ["--engine", "duckdb", "--state", "cold", "--no-plans", "--block-trace"]
    _, document = run_once(shared, tmp_path_factory.mktemp("storage"), *options)
    if document["storage"] is None:
        pytest.skip("the data are on no block device here")
    return Run(Path(document["path"])), document["storage"]


def test_what_a_query_reads_is_counted_at_its_edges(cold: tuple[Run, dict[str, Any]]) -> None:
    run, storage = cold
    assert all(operation["metered"] for operation in storage["operations"])
    # Of each execution: what is told of an operation is the median of its own.
    read = operation_reads(run)["read_bytes"].sum()
    tasks = run.table("tasks").sort("time_ns")
    whole = tasks["device_read_bytes"][-1] - tasks["device_read_bytes"][0]
    assert 0 < read <= whole
    assert len(storage["disk"]["time_s"]) == len(storage["disk"]["r/s"]) > 0


def test_requests_are_as_the_device_counts_them(cold: tuple[Run, dict[str, Any]]) -> None:
    """Of the time between the first reading and the last, but for what was under way at an edge.

    On a busy host some come faster than they are taken; that is then said.
    """
    run, storage = cold
    if storage["requests"] is None:
        pytest.skip(storage["requests_reason"])
    device = run.environment["host"]["data_device"]["name"]
    assert traced_devices(run) == tuple(storage["requests"]["devices"])
    if traced_devices(run) != (device,):
        pytest.skip(f"{device} has no requests of its own")
    tasks = run.table("tasks").sort("time_ns")
    begun_ns, ended_ns = tasks["time_ns"][0], tasks["time_ns"][-1]
    traced = run.table("requests").filter(
        (pl.col("device").cast(pl.String) == device)
        & pl.col("rwbs").cast(pl.String).str.starts_with("R")
        & pl.col("time_ns").is_between(begun_ns, ended_ns)
    )
    counted = tasks["device_reads"][-1] - tasks["device_reads"][0]
    assert traced.height <= counted * 1.05 + 20
    if not run.facts["probes"]["requests"]["notes"]:
        assert traced.height >= counted * 0.95 - 20
