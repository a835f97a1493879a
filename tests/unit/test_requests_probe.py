"""The probe of block requests, on reads of this process whose places are known."""

from __future__ import annotations

import json
import mmap
import os
import random
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl
import pytest

from assay.probes.contract import Refusing, Target
from assay.probes.discovery import find_probes
from assay.probes.requests import RequestsProbe
from assay.record.reader import Run
from assay.running.host.devices import device_of

PAGE = 8192
READS = 128
SEED = 3
BEGIN = 1 << 20


def target(raw: Path, *, asked: bool) -> Target:
    return Target(raw, 0.1, (), block_trace=asked)


def read_direct(path: Path, numbers: Iterable[int]) -> int:
    """Reads pages past the page cache, one at a time; which thread did it."""
    # Memory of its own, because the kernel reads directly only into what is aligned.
    page = mmap.mmap(-1, PAGE)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        for number in numbers:
            assert os.preadv(descriptor, [page], BEGIN + number * PAGE) == PAGE
    finally:
        os.close(descriptor)
    return threading.get_native_id()


@pytest.fixture
def traced_file() -> Iterator[Path]:
    """A file on a block device, in one piece as far as the file system can."""
    path = Path("/var/tmp") / f"assay-test-requests-{os.getpid()}"  # noqa: S108 - on a disk
    if device_of(path.parent) is None:
        pytest.skip(f"{path.parent} is on no block device here")
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, BEGIN + READS * PAGE)
        file.write(os.urandom(BEGIN + READS * PAGE))
        os.fsync(file.fileno())
    yield path
    path.unlink()


def reads_of(tid: int, run_dir: Path) -> pl.DataFrame:
    requests = Run(run_dir).table("requests")
    return requests.filter(
        (pl.col("tid") == tid) & pl.col("rwbs").cast(pl.String).str.starts_with("R")
    ).sort("time_ns")


def test_it_runs_where_it_was_asked_for_only(tmp_path: Path) -> None:
    probe = next(probe for probe in find_probes() if probe.name == "requests")
    # An option of its own decides, so --probes does not.
    assert isinstance(probe, Refusing)
    assert probe.applies(target(tmp_path, asked=True))
    assert not probe.applies(target(tmp_path, asked=False))
    assert probe.refusal(target(tmp_path, asked=False)) is None


def test_every_read_is_told_with_its_place(tmp_path: Path, traced_file: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"schema": 1, "id": "x", "status": "running"}))
    (tmp_path / "raw").mkdir()
    probe = RequestsProbe()
    try:
        probe.start(target(tmp_path / "raw", asked=True))
    except OSError as error:
        pytest.skip(f"block requests cannot be traced here: {error}")
    in_order, shuffled = list(range(READS)), list(range(READS))
    random.Random(SEED).shuffle(shuffled)
    tid = read_direct(traced_file, in_order)
    read_direct(traced_file, shuffled)
    cost = probe.stop()
    assert (cost.error, cost.notes) == (None, ())
    assert cost.samples >= 2 * READS
    reads = reads_of(tid, tmp_path)
    device = device_of(traced_file)
    assert device is not None
    assert set(reads["device"].cast(pl.String)) <= {*device["disks"], device["name"]}
    # Each page is read twice; what else this thread had to read, a page of a program, once.
    own = reads.filter((pl.col("bytes") == PAGE) & (pl.len().over("sector") == 2))
    # A file may lie in pieces, whose ends fall into a page: then that page is two requests.
    assert READS * 2 * 0.9 <= own.height <= READS * 2
    ahead = (own["sector"].diff() == PAGE // 512).to_list()
    middle = len(ahead) // 2
    assert sum(map(bool, ahead[:middle])) > 0.8 * middle
    assert sum(map(bool, ahead[middle:])) < 0.2 * middle
    assert own["time_ns"].is_sorted()
    assert set(own["pid"]) == {os.getpid()}
