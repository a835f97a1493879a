"""A state is set as asked; what could not be done is recorded, never passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from assay.running.asked.request import RunRequest
from assay.running.data import page_cache
from assay.running.host.state import look_after_start, set_state, state_of

if TYPE_CHECKING:
    from pathlib import Path

RESIDENT, SIZE = 40, 100


class Cache:
    """Stands for the page cache: counts what it was asked to do."""

    def __init__(self, *, evicts: bool = True, error: OSError | None = None) -> None:
        self.resident = RESIDENT
        self._evicts = evicts
        self._error = error

    def evict(self, _data: Path) -> None:
        if self._error:
            raise self._error
        if self._evicts:
            self.resident = 0

    def read_in(self, _data: Path) -> None:
        if self._error:
            raise self._error
        self.resident = SIZE

    def put_in_place(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(page_cache, "evict", self.evict)
        monkeypatch.setattr(page_cache, "read_in", self.read_in)
        monkeypatch.setattr(page_cache, "size_bytes", lambda _: SIZE)
        monkeypatch.setattr(page_cache, "resident_bytes", lambda _: self.resident)


def request(**asked: Any) -> RunRequest:
    return RunRequest(workload="w", engine="e", scale=1.0, **asked)


def cold(**asked: Any) -> RunRequest:
    return request(state="cold", state_passes=0, **asked)


def test_hot_leaves_everything_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache().put_in_place(monkeypatch)
    facts = set_state(request(state_passes=2), tmp_path).facts()
    assert facts == {
        "asked": "hot",
        "passes": 2,
        "how": ["2 untimed passes first"],
        "left": [],
        "host_changes": [],
        "data_bytes": SIZE,
        "resident_bytes_before_start": RESIDENT,
        "resident_bytes_after_start": None,
        "engine_cache": None,
        "page_cache": True,
    }


def test_hot_with_a_limit_of_memory_leaves_the_pages_to_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cache().put_in_place(monkeypatch)
    request = RunRequest(workload="tpch", engine="duckdb", scale=0.01, limits={"memory": 1e9})
    state = set_state(request, tmp_path)
    assert state.resident_bytes_before_start == 0
    assert "data files written back and their pages evicted" in state.how


def test_cold_evicts_and_says_what_it_did_not_touch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cache().put_in_place(monkeypatch)
    state = set_state(cold(), tmp_path)
    assert (state.passes, state.resident_bytes_before_start) == (0, 0)
    assert state.how == ["data files written back and their pages evicted"]
    assert [sentence for sentence in state.left if "--allow-host-changes" in sentence]
    assert state.host_changes == []


def test_a_file_system_that_keeps_its_pages_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cache(evicts=False).put_in_place(monkeypatch)
    state = set_state(cold(), tmp_path)
    assert state.resident_bytes_before_start == RESIDENT
    assert state.left[-1] == "40 B of 100 B stay in memory"


@pytest.mark.parametrize("state", ["cold", "os-warm"])
def test_a_file_that_cannot_be_read_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    Cache(error=PermissionError(13, "Permission denied", "a/file")).put_in_place(monkeypatch)
    host_state = set_state(request(state=state, state_passes=0), tmp_path)
    assert host_state.how == []
    assert host_state.left[0].endswith("a/file: Permission denied")


def test_os_warm_reads_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache().put_in_place(monkeypatch)
    state = set_state(request(state="os-warm", state_passes=0), tmp_path)
    assert state.resident_bytes_before_start == SIZE
    assert state.how == ["all data files read into the page cache"]


def test_the_hosts_caches_are_dropped_where_that_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cache().put_in_place(monkeypatch)
    file = tmp_path / "drop_caches"
    state = set_state(cold(allow_host_changes=True), tmp_path, file)
    assert file.read_text() == "3"
    assert state.host_changes == [f"{file}: 3"]
    assert state.left == []


def test_who_may_not_drop_them_is_told_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache().put_in_place(monkeypatch)
    state = set_state(cold(allow_host_changes=True), tmp_path, tmp_path / "no" / "such")
    assert state.host_changes == []
    assert state.left[0].startswith("caches of the host were not dropped: ")
    assert state.left[0].endswith("No such file or directory")


def test_what_the_start_brought_in_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache()
    cache.put_in_place(monkeypatch)
    state = set_state(cold(), tmp_path)
    cache.resident = 30
    look_after_start(state, tmp_path)
    facts = state.facts()
    assert (facts["resident_bytes_before_start"], facts["resident_bytes_after_start"]) == (0, 30)


def test_a_mix_has_no_passes() -> None:
    state = state_of(request(clients=4, warmup_s=5.0))
    assert (state.passes, state.how) == (None, ["an untimed warm-up of 5 s first"])


def test_what_is_not_ours_is_not_looked_at() -> None:
    state = state_of(request(dsn="postgresql://host/db"))
    assert (state.data_bytes, state.resident_bytes_before_start) == (None, None)


def test_what_loading_left_is_looked_at_and_nothing_is_done_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache()
    cache.put_in_place(monkeypatch)
    state = set_state(request(state="loaded", state_passes=0), tmp_path)
    assert (state.data_bytes, state.resident_bytes_before_start) == (None, None)
    look_after_start(state, tmp_path)
    assert (state.data_bytes, state.resident_bytes_after_start) == (SIZE, RESIDENT)
    assert "nothing was restarted" in " ".join(state.how)
    assert (state.left, state.host_changes, cache.resident) == ([], [], RESIDENT)
