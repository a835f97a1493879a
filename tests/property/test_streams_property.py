"""However a stream was cut short or damaged: a table, or an error that names the file."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.model.errors import RecordUnreadableError
from assay.record.reader import Run
from assay.record.writer import write_json
from tests.conftest import an_event, write_stream

BATCHES = 3
ROWS = 6


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small stream with dictionaries, nulls and several batches."""
    path = tmp_path_factory.mktemp("stream") / "events.arrows"
    rows = [an_event(n, f"q{n % 2}", n, 1, error="x" if n % 3 else None) for n in range(ROWS)]
    write_stream(path, rows, batches=BATCHES)
    return path.read_bytes()


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("run")
    (directory / "raw").mkdir()
    write_json(directory / "run.json", {"schema": 1, "id": "x", "status": "running"})
    return directory


def read(run_dir: Path, content: bytes) -> pl.DataFrame | None:
    """The table, or None if the reader refused the file in its own words."""
    (run_dir / "raw" / "events.arrows").write_bytes(content)
    try:
        return Run(run_dir).table("events")
    except RecordUnreadableError as error:
        refused = str(error)
    assert "events.arrows" in refused
    return None


def test_a_stream_cut_at_any_byte_gives_its_whole_batches(run_dir: Path, whole: bytes) -> None:
    heights = []
    for length in range(len(whole) + 1):
        frame = read(run_dir, whole[:length])
        if frame is not None:
            # Reading every cell would crash on a table that points outside of its buffers.
            assert len(frame.rows()) == frame.height
            heights.append(frame.height)
    assert set(heights) == {0, 2, 4, 6}
    assert heights == sorted(heights)


def test_a_killed_writer_loses_only_its_last_batch(run_dir: Path, whole: bytes) -> None:
    last_whole_end = len(whole) - 8  # the end-of-stream mark
    cut = read(run_dir, whole[: last_whole_end - 1])
    assert cut is not None
    assert cut["sequence"].to_list() == [0, 1, 2, 3]


def test_a_schema_whose_damage_gives_two_columns_one_name_is_refused(
    run_dir: Path, whole: bytes
) -> None:
    damaged = whole.replace(b"rows", b"pass", 1)
    assert damaged != whole
    assert read(run_dir, damaged) is None


@given(content=st.binary(max_size=300))
def test_garbage_is_refused_with_the_name_of_the_file(run_dir: Path, content: bytes) -> None:
    assert read(run_dir, content) is None or content


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_damaged_stream_gives_a_readable_table_or_an_error(
    run_dir: Path, whole: bytes, data: st.DataObject
) -> None:
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    frame = read(run_dir, bytes(content))
    assert frame is None or len(frame.rows()) == frame.height
