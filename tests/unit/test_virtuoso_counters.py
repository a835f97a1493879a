"""Virtuoso's counters as its server tells them, from a link that answers what was seen of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assay.engines.bridge.errors import BridgeError
from assay.engines.virtuoso.connecting import file_text
from assay.engines.virtuoso.counters import VirtuosoCounters

LINE = (
    "     6 rnd  2.518K seq      0 same seg       0 same pg      0 same par      0 disk"
    "      0 spec disk      0B /      0 messages      0 fork"
)
INDEXES = [
    {"key_of": "lineitem", "index_of": "lineitem", "touches": "9077646", "reads": "4348"},
    {"key_of": "lineitem", "index_of": "l_pk_sk", "touches": "27", "reads": "0"},
]


PAGES = [
    row | {"n_dirty": dirty, "n_buffers": buffers}
    for row, dirty, buffers in zip(INDEXES, ("3", "0"), ("4348", "12"), strict=True)
]
STATUS = [["Database Status:"], [None], ["  20000 buffers, 719 used, 0 dirty 0 wired down, repl"]]


class FakeLink:
    """Answers by file."""

    def __init__(self, line: str = LINE) -> None:
        self.answers: dict[str, list[dict[str, Any]]] = {
            "server": [{"disk_reads": "104", "lock_waits": "0"}],
            "indexes": INDEXES,
            "pages": PAGES,
            "http": [{"line": line}],
        }
        self.run_texts: list[str] = []
        self.is_lost = False

    def ask(self, sql: str) -> pa.Table:
        self._check()
        name = next(n for n in self.answers if sql == file_text(f"counters/{n}.sql"))
        return pa.Table.from_pylist(self.answers[name])

    def text(self, sql: str) -> list[list[str | None]]:
        self._check()
        assert sql == file_text("counters/status.sql")
        return STATUS

    def run(self, sql: str) -> None:
        self._check()
        self.run_texts.append(sql)

    def _check(self) -> None:
        if self.is_lost:
            raise BridgeError("the server went away", "08006", 0, lost=True)


def reader(link: FakeLink, activity: Path | None = None) -> VirtuosoCounters:
    return VirtuosoCounters(link, activity)  # type: ignore[arg-type]


def test_counters_of_the_server_its_indexes_and_its_web_threads(tmp_path: Path) -> None:
    rows = reader(FakeLink(), tmp_path / "activity").read()
    counters = {(source, thing, counter): value for source, thing, counter, value in rows}
    assert counters["server", "server", "disk_reads"] == 104
    assert counters["indexes", "lineitem", "touches"] == 9_077_646
    assert counters["indexes", "lineitem.l_pk_sk", "touches"] == 27
    assert counters["indexes", "all indexes", "touches"] == 9_077_673
    assert counters["indexes", "all indexes", "reads"] == 4348
    assert counters["http", "http", "rnd"] == 6
    assert counters["http", "http", "seq"] == 2518
    assert counters["indexes", "lineitem.l_pk_sk", "n_buffers"] == 12
    assert len(rows) == len(counters)


def test_without_a_web_server_its_threads_did_not_do_nothing() -> None:
    assert [row for row in reader(FakeLink()).read() if row[0] == "http"] == []


def test_each_look_adds_what_the_line_tells_of_the_time_before_it(tmp_path: Path) -> None:
    # A line of its own begins at each look; two readers share one sum.
    readers = [reader(FakeLink(), tmp_path / "activity") for _ in range(2)]
    seen = [
        value
        for counter_reader in (*readers, *readers)
        for source, _, counter, value in counter_reader.read()
        if (source, counter) == ("http", "rnd")
    ]
    assert seen == [6, 12, 18, 24]


def test_pages_of_the_pool_are_looked_for_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 100.5, 101.0, 149.9, 150.1, 150.2, 151.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    counter_reader = reader(FakeLink())
    looked = [any(row[2] == "n_buffers" for row in counter_reader.read()) for _ in range(4)]
    assert looked == [True, False, False, True], "half a second is a hundredth of fifty"


def test_indexes_that_nobody_used_yet_are_a_sum_of_nothing() -> None:
    link = FakeLink()
    link.answers["indexes"] = []
    link.answers["pages"] = []
    index_rows = [row for row in reader(link).read() if row[0] == "indexes"]
    assert index_rows == [
        ("indexes", "all indexes", "touches", 0.0),
        ("indexes", "all indexes", "reads", 0.0),
    ]


@pytest.mark.parametrize("line", ["", "no such line"])
def test_a_line_that_is_not_understood_is_an_error_of_reading(line: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="not a line of activity;"):
        reader(FakeLink(line), tmp_path / "activity").read()


def test_a_server_that_is_gone_is_an_error_of_reading() -> None:
    link = FakeLink()
    link.is_lost = True
    with pytest.raises(OSError, match="cannot be read: the server went away"):
        reader(link).read()
    with pytest.raises(OSError, match="status cannot be read"):
        reader(link).status()
    with pytest.raises(OSError, match="cannot be reset"):
        reader(link).reset()


def test_reset_has_it_count_anew() -> None:
    link = FakeLink()
    reader(link).reset()
    assert link.run_texts == [file_text("reset_counters.sql")]


def test_how_it_stands_is_figures_pages_by_index_and_its_own_words() -> None:
    rows, text = reader(FakeLink()).status()
    counters = {(source, thing, counter): value for source, thing, counter, value in rows}
    assert counters["status", "status", "buffers_used"] == 719
    assert counters["indexes", "lineitem", "n_dirty"] == 3
    assert counters["indexes", "lineitem", "touches"] == 9_077_646
    assert counters["indexes", "lineitem.l_pk_sk", "n_buffers"] == 12
    assert text.splitlines() == [line[0] or "" for line in STATUS]
