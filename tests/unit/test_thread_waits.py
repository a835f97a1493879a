"""Waits of servers that have a thread for each connection, by sessions and operations."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.analysis.time.waiting import wall_split
from assay.analysis.waits import threads
from assay.analysis.waits.naming import causes_by_word
from assay.analysis.waits.rules import parse_waits, waits_of
from assay.model.errors import UsageError
from assay.probes.streams import ACTIVITY, Stream
from assay.record.reader import Run
from tests.looks import BEGUN_NS, CLIENT, MS, ROOT, RUN, Doing, Lab, Thread, lasting

RULES = """
words_tell = ["lock"]
[[rules]]
cause = "client"
states = ["S"]
calls = ["poll"]
says = "x"
[[events]]
cause = "lock"
type = "Lock"
says = "x"
[[events]]
cause = "log"
type = "State"
events = ["Commit*"]
says = "x"
"""
FUTEX = Doing("S", 1, "futex_wait_queue", 202)
POLL = Doing("S", 1, "poll_schedule_timeout", 7)
OURS, PROBE, POOL = 501, 502, 503
WORDS = ("Lock", "row")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A server of one process with one session."""
    return Lab(tmp_path, waits=_document())


def made(lab: Lab, word: tuple[str, str] | None, connection: int = 12) -> Run:
    """A session that waits in 80 % of each operation, a probe's thread and one of the pool."""
    done: list[Doing] = lab.serial(40, 200, {RUN: 0.2, FUTEX: 0.8}, rest=POLL)
    lab.threads = [
        Thread(ROOT, OURS, "server", BEGUN_NS, done),
        Thread(ROOT, PROBE, "server", BEGUN_NS, [lasting(POLL, 1)]),
        Thread(ROOT, POOL, "server", BEGUN_NS, [lasting(CLIENT, 1)]),
    ]
    lab.sessions, lab.told_every_ns = {}, None
    lab.at_work = 1
    lab.extra = {"connections": [{"time_ns": 0, "session": 0, "connection": connection}]}
    run = lab.write()
    with Stream(run.dir / "raw", "activity", ACTIVITY) as stream:
        for time_ns in range(BEGUN_NS, lab.until_ns, 70 * MS):
            row = (time_ns, ROOT, "connection", None, "assay", "Query")
            stream.push(*row, *(word or (None, None)), OURS, 12)
            stream.push(*row, None, None, PROBE, 3)
    return Run(run.dir)


def _document() -> dict[str, Any]:
    return tomllib.loads(RULES)


def split(run: Run) -> dict[str, Any]:
    table = wall_split(run)
    assert table is not None
    return table.to_dicts()[0]


def test_the_thread_of_a_session_is_found_by_its_connection(lab: Lab) -> None:
    row = split(made(lab, WORDS))
    assert row["lock"] / row["threads_s"] == pytest.approx(0.8, abs=0.05)
    assert row["threads_s"] == pytest.approx(40 * 0.2, rel=0.05)
    assert row["coverage"] == pytest.approx(1.0, abs=0.05)


def test_the_engines_word_divides_sleeps_on_locks(lab: Lab) -> None:
    row = split(made(lab, ("State", "Commit implicit")))
    assert row["log"] / row["threads_s"] == pytest.approx(0.8, abs=0.05)
    assert row["lock"] == 0.0


def test_kinds_are_of_threads(lab: Lab) -> None:
    run = made(lab, WORDS)
    lives = pl.DataFrame({"pid": [ROOT] * 3, "tid": [OURS, PROBE, POOL]}).cast(pl.UInt32)
    passes = pl.DataFrame({"session": pl.Series([0], dtype=pl.UInt32)})
    frame = threads.of_server(run, lives, passes)
    assert frame["kind"].to_list() == [threads.LEADER, threads.STRANGER, threads.HELPER]


def test_a_session_whose_thread_is_not_known_has_no_threads(lab: Lab) -> None:
    run = made(lab, WORDS, connection=99)
    assert not threads.serves_by_thread(run, pl.DataFrame({"session": [0]}))


def test_words_explain_only_the_sleeps_that_the_rules_name() -> None:
    spans = pl.DataFrame(
        {
            "pid": [7, 7],
            "tid": [8, 9],
            "state": ["S", "S"],
            "by_kernel": ["lock", "client"],
            "begin_ns": [0, 0],
            "end_ns": [10, 10],
        },
        schema_overrides={"pid": pl.UInt32, "tid": pl.UInt32},
    )
    activity = pl.DataFrame(
        {
            "time_ns": [5, 5],
            "pid": [7, 7],
            "tid": [8, 9],
            "wait_event_type": ["State", "State"],
            "wait_event": ["Commit", "Commit"],
        }
    )
    named = causes_by_word(spans, activity, waits_of(_document(), "x")).sort("tid")
    assert named["by_word"].to_list() == [[{"cause": "log", "event_ns": 5}], None]


def test_an_unknown_cause_of_words_is_refused() -> None:
    with pytest.raises(UsageError, match="words_tell"):
        parse_waits('words_tell = ["boredom"]', "waits.toml")


@pytest.mark.parametrize(
    ("engine", "event", "cause"),
    [
        ("mariadb", "Updating status", "log"),
        ("mariadb", "Commit", "log"),
        ("mariadb", "Waiting for table metadata lock", "lock"),
        ("mysql", "waiting for handler commit", "log"),
        ("mysql", "User sleep", "paused"),
        ("mysql", "updating", None),
    ],
)
def test_words_of_the_servers_have_causes(engine: str, event: str, cause: str | None) -> None:
    import assay.engines

    file = Path(assay.engines.__file__).parent / engine / "waits.toml"
    rules = parse_waits(file.read_text("utf-8"), engine)
    assert rules.cause_of_event("State", event) == cause
    assert rules.cause_of_event("Lock", "row") == "lock"


@pytest.mark.parametrize("engine", ["mariadb", "mysql"])
def test_a_state_of_a_running_statement_is_a_latch_only_while_its_thread_sleeps_on_one(
    engine: str,
) -> None:
    import assay.engines

    file = Path(assay.engines.__file__).parent / engine / "waits.toml"
    rules = parse_waits(file.read_text("utf-8"), engine)
    causes = [rules.cause_of_event("State", "updating", slept) for slept in ("lock", "disk_write")]
    assert causes == ["latch", None]
    assert rules.confirms_locks
