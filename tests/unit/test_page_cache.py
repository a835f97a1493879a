"""What the page cache holds of files can be seen, filled and emptied, of these files alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from assay.running.data import page_cache
from assay.running.host.environment import describe_host

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 3 * (1 << 20) + 123


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A directory of two files, one of them below another, all in memory."""
    kind = describe_host(tmp_path)["data_filesystem"]["type"]
    if kind in {"tmpfs", "ramfs"}:
        pytest.skip(f"{tmp_path} is on {kind}, which has no other place than memory")
    (tmp_path / "below").mkdir()
    for name in ("one", "below/two"):
        (tmp_path / name).write_bytes(os.urandom(SIZE))
    return tmp_path


def test_what_was_just_written_is_in_memory(data: Path) -> None:
    assert page_cache.size_bytes(data) == 2 * SIZE
    assert page_cache.resident_bytes(data) == 2 * SIZE


def test_evicted_files_are_not_in_memory_though_they_were_dirty(data: Path) -> None:
    page_cache.evict(data)
    assert page_cache.resident_bytes(data) == 0


def test_looking_brings_nothing_back(data: Path) -> None:
    page_cache.evict(data)
    assert [page_cache.resident_bytes(data) for _ in range(2)] == [0, 0]


def test_all_of_it_is_read_in(data: Path) -> None:
    page_cache.evict(data)
    page_cache.read_in(data)
    assert page_cache.resident_bytes(data) == 2 * SIZE


def test_others_files_are_left_alone(data: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "file"
    other.write_bytes(os.urandom(SIZE))
    (data / "link").symlink_to(other)
    page_cache.evict(data)
    assert page_cache.resident_bytes(other.parent) == SIZE
    assert page_cache.size_bytes(data) == 2 * SIZE


def test_a_directory_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert (page_cache.size_bytes(nowhere), page_cache.resident_bytes(nowhere)) == (0, 0)
