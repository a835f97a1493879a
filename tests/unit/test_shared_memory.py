"""Shared memory of servers that were killed goes with their data; that of others stays."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.running.data.datasets import DatasetCache
from assay.running.processes.launcher import Guardian
from assay.running.processes.shared_memory import ServerMemory, abandoned, remove_below
from assay.running.server.instances import clear
from tests.abandoned_memory import CONTROL_MAGIC, Abandoned, abandon, listing_of, run_program

# Four thousand million items would take hours.
PROMPT_S = 5.0


@pytest.fixture
def leave() -> Iterator[Callable[[Path], Abandoned]]:
    left: list[Abandoned] = []

    def leave(data: Path) -> Abandoned:
        left.append(abandon(data))
        return left[-1]

    yield leave
    for memory in left:
        memory.remove()


def of_segment(memory: Abandoned) -> ServerMemory:
    (found,) = [left for left in abandoned() if left.segment.id == memory.segment]
    return found


def test_that_of_a_directory_goes_and_that_of_others_stays(tmp_path, leave) -> None:
    ours, other = leave(tmp_path / "ours/data/cluster"), leave(tmp_path / "other")
    assert remove_below(tmp_path / "ours") == []
    assert not ours.is_there
    assert other.is_whole


def test_that_of_a_server_that_runs_stays(tmp_path, leave) -> None:
    memory = leave(tmp_path / "data")
    memory.attach()
    assert remove_below(tmp_path) == []
    assert memory.is_whole


def test_files_that_the_server_gave_back_are_not_named(tmp_path, leave) -> None:
    memory = leave(tmp_path / "data")
    (told,) = [one for one in abandoned() if one.segment.id == memory.segment]
    assert set(told.files) == set(memory.files)
    assert f"System V segment {memory.segment}, " in told.description


def test_a_listing_that_is_none_names_nothing(tmp_path, leave) -> None:
    memory = leave(tmp_path / "data")
    listing, other = memory.files
    for text in (b"", b"\x32\x3d\x50\x9a", b"x" * 400):
        listing.write_bytes(text)
        (told,) = [one for one in abandoned() if one.segment.id == memory.segment]
        assert told.files == ()
    assert other.exists()


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
STRANGER_UID = 12_345


@needs_root
def test_memory_of_another_users_server_is_not_removed(tmp_path, leave) -> None:
    memory, other = leave(tmp_path / "data"), leave(tmp_path / "other")
    listing, used = memory.files
    stolen = other.files[1]
    # A listing that names a file of another user's server beside its own.
    handles = [int(file.name.removeprefix("PostgreSQL.")) for file in (used, stolen)]
    listing.write_bytes(listing_of((handle, 2) for handle in handles))
    for file in other.files:
        os.chown(file, STRANGER_UID, -1)
    assert set(of_segment(memory).files) == {listing, used}
    assert run_program(tmp_path / "data").returncode == 0
    assert not memory.is_there
    assert stolen.exists()


@needs_root
def test_a_listing_of_another_user_names_nothing(tmp_path, leave) -> None:
    memory = leave(tmp_path / "data")
    os.chown(memory.files[0], STRANGER_UID, -1)
    assert of_segment(memory).files == ()


def test_a_pipe_and_a_link_are_no_listing(tmp_path, leave) -> None:
    memory = leave(tmp_path / "data")
    listing, _ = memory.files
    content = listing.read_bytes()
    listing.unlink()
    os.mkfifo(listing)
    assert of_segment(memory).files == ()
    listing.unlink()
    (tmp_path / "real").write_bytes(content)
    listing.symlink_to(tmp_path / "real")
    assert of_segment(memory).files == ()


def test_a_listing_without_room_for_its_items_ends_at_once(tmp_path, leave) -> None:
    memory = leave(tmp_path / "data")
    many = (1 << 32) - 1
    memory.files[0].write_bytes(struct.pack("=III", CONTROL_MAGIC, many, many) + b"\1" * 64)
    begun_s = time.monotonic()
    assert of_segment(memory).files == ()
    assert time.monotonic() - begun_s < PROMPT_S


def test_the_program_imports_nothing(tmp_path, leave) -> None:
    memory = leave(tmp_path / "data")
    done = run_program(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert not memory.is_there


def test_it_goes_with_the_guardian(tmp_path, leave) -> None:
    with Guardian("run", tmp_path) as guardian:
        memory = leave(guardian.directory / "data" / "cluster")
    assert not memory.is_there
    assert not guardian.directory.exists()


def test_it_goes_with_a_swept_instance(tmp_path, leave) -> None:
    memory = leave(tmp_path / "instances" / "run" / "data")
    assert clear(tmp_path / "instances" / "run", comparable=False).outcome == "removed"
    assert not memory.is_there


def test_it_goes_with_data_that_were_not_loaded_to_their_end(tmp_path, leave) -> None:
    memory = leave(tmp_path / "tpch-1-postgresql-0.partial" / "data" / "cluster")
    DatasetCache(tmp_path).sweep()
    assert not memory.is_there
    assert list(tmp_path.iterdir()) == []
