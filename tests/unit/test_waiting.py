"""Threads that did known things: their time is found by cause, and what has no source is shown."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, ClassVar

import pytest

from assay.analysis.causes import PARTS, UNCOVERED
from assay.analysis.profile.placing import ALL_TOGETHER
from assay.analysis.time.waiting import wall_split
from assay.analysis.time.where import Doubt, where_time_went
from assay.engines.discovery import find_engine
from assay.record.reader import Run
from tests import looks
from tests.conftest import BEGUN_NS, MS, S, an_event, write_stream
from tests.looks import (
    BACKEND,
    CLIENT,
    GATHER,
    HELD,
    LOCK,
    LOG,
    LOOK_NS,
    ON_CPU,
    OWN,
    POOL,
    POOL_TID,
    QUEUE,
    READ,
    ROOT,
    RUN,
    SESSION_TID,
    WORKER,
    Doing,
    Lab,
    Thread,
    lasting,
    look_times,
    mixed,
)

# What is said to be found within: three points of the whole.
WITHIN = 0.03
# Pieces of doings are rounded to nanoseconds.
FLOAT_ABSOLUTE = 1e-7
POSTGRESQL = find_engine("postgresql").waits()
DUCKDB = find_engine("duckdb").waits()
VIRTUOSO = find_engine("virtuoso").waits()
MARIADB = find_engine("mariadb").waits()


def split(run: Run) -> dict[str, dict[str, Any]]:
    table = wall_split(run)
    assert table is not None
    return {row["operation"]: row for row in table.iter_rows(named=True)}


def shares(row: dict[str, Any]) -> dict[str, float]:
    """Parts as shares of the threads' time, but for what is within the error of nothing."""
    share_values = shares_of(row, *[part for part in PARTS if row[part]])
    return {part: share for part, share in share_values.items() if share > WITHIN}


def approximately(expected: dict[str, float]) -> Any:
    return pytest.approx(expected, abs=WITHIN)


def shares_of(row: dict[str, Any], *parts: str) -> dict[str, float]:
    return {part: row[part] / row["threads_s"] for part in parts}


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A server with one session; its rules are PostgreSQL's."""
    return Lab(tmp_path, waits=POSTGRESQL)


@pytest.fixture
def library(tmp_path: Path) -> Lab:
    """An embedded engine of two threads; its rules are DuckDB's."""
    return Lab(tmp_path, kind="embedded", waits=DUCKDB, at_work=2)


@pytest.fixture
def threaded(tmp_path: Path) -> Lab:
    """A server of one process, which tells of no session what serves it; rules are Virtuoso's."""
    return Lab(tmp_path, waits=VIRTUOSO, sessions={}, told_every_ns=None)


def backend(doings: list[Doing], pid: int = BACKEND) -> Thread:
    return Thread(pid, pid, "postgres", BEGUN_NS, doings)


class TestTruth:
    def test_a_query_that_is_bound_by_its_disk(self, lab: Lab) -> None:
        truth = {READ: 0.7, RUN: 0.2, QUEUE: 0.1}
        lab.threads = [backend(lab.serial(100, 200, truth))]
        row = split(lab.write())["q1"]
        assert shares(row) == approximately({"disk_read": 0.7, "cpu_user": 0.2, "run_queue": 0.1})
        assert row["coverage"] == approximately(1.0)
        assert row["threads_s"] == pytest.approx(20.0)

    def test_operations_shorter_than_the_time_between_looks(self, lab: Lab) -> None:
        lab.threads = [backend(lab.serial(2000, 4, {READ: 0.5, RUN: 0.3, QUEUE: 0.2}))]
        row = split(lab.write())["q1"]
        assert shares(row) == approximately({"disk_read": 0.5, "cpu_user": 0.3, "run_queue": 0.2})
        assert row["coverage"] == approximately(1.0)

    def test_each_operation_has_its_own(self, lab: Lab) -> None:
        doings = lab.serial(60, 150, {RUN: 0.9, READ: 0.1}, operation="a")
        begun_ms = sum(doing.ms for doing in doings)
        more = Lab(lab.directory, dice=lab.dice).serial(60, 150, {RUN: 0.2, LOG: 0.8})
        for number in range(60):
            began_ms = begun_ms + sum(doing.ms for doing in _until(more, number))
            began_ns = BEGUN_NS + round(began_ms * MS)
            lab.events.append(
                lab.events[0]
                | {"sequence": 100 + number, "operation": "b", "started_ns": began_ns}
                | {"finished_ns": began_ns + 150 * MS}
            )
        lab.threads = [backend([*doings, *more])]
        rows = split(lab.write())
        assert shares_of(rows["a"], "cpu_user", "disk_read") == approximately(
            {"cpu_user": 0.9, "disk_read": 0.1}
        )
        assert shares_of(rows["b"], "cpu_user", "disk_write") == approximately(
            {"cpu_user": 0.2, "disk_write": 0.8}
        )

    def test_of_an_engine_that_is_gone_nothing_is_known(self, threaded: Lab) -> None:
        doings = threaded.serial(20, 200, {RUN: 1.0}, operation="a")
        gone_ns = BEGUN_NS + round(sum(doing.ms for doing in doings) * MS) + 500 * MS
        times = {"started_ns": gone_ns, "finished_ns": gone_ns + 5 * MS}
        threaded.events.append(threaded.events[0] | {"sequence": 900, "operation": "b"} | times)
        threaded.threads = [backend(doings)]
        rows = split(threaded.write())
        assert rows["a"]["coverage"] == approximately(1.0)
        assert rows["b"]["coverage"] is None

    def test_parts_add_up_to_the_threads_time(self, lab: Lab) -> None:
        lab.threads = [backend(lab.serial(20, 200, {READ: 0.4, RUN: 0.6}))]
        operations, whole = where_time_went(lab.write())
        assert whole is not None
        for shares_of_time in (operations["q1"]["where"], whole.shares):
            assert sum(share or 0.0 for share in shares_of_time.values()) == pytest.approx(1.0)


def _until(doings: list[Doing], number: int) -> list[Doing]:
    """What came before pass `number`, of doings with one rest before each pass."""
    rests = [place for place, doing in enumerate(doings) if doing.word == CLIENT.word]
    return doings[: rests[number] + 1]


class TestSourcesAreIndependent:
    TRUTH: ClassVar = {READ: 0.5, RUN: 0.3, QUEUE: 0.2}

    @pytest.mark.parametrize(
        ("stream", "spoiled", "part", "share"),
        [
            ("waits", {"state": "R", "channel": None, "call": None}, "disk_read", 0.5),
            ("tasks", {"on_cpu_ns": 0, "user_ns": 0}, "cpu_user", 0.3),
            ("tasks", {"on_cpu_ns": None, "user_ns": None}, "cpu_user", 0.3),
            ("tasks", {"run_delay_ns": None}, "run_queue", 0.2),
        ],
    )
    def test_without_one_coverage_falls_by_its_share(
        self, lab: Lab, stream: str, spoiled: dict[str, Any], part: str, share: float
    ) -> None:
        lab.threads = [backend(lab.serial(100, 200, self.TRUTH))]

        def change(name: str, row: dict[str, Any]) -> dict[str, Any]:
            return row | spoiled if name == stream and row.get("state") != "X" else row

        row = split(lab.write(change=change))["q1"]
        assert not row[part]
        assert row["coverage"] == approximately(1 - share)
        assert row[UNCOVERED] / row["threads_s"] == approximately(share)

    @pytest.mark.parametrize("lost", [0.0, 0.5, 0.9])
    def test_without_looks_sleep_is_not_accounted_for(
        self, lab: Lab, monkeypatch: pytest.MonkeyPatch, lost: float
    ) -> None:
        lab.threads = [backend(lab.serial(200, 200, {READ: 0.5, RUN: 0.5}))]

        def with_holes(until_ns: int, dice: random.Random) -> list[int]:
            seen_ns = (1 - lost) * 4 * S
            times = look_times(until_ns, dice)
            return [at for at in times if at < BEGUN_NS or (at - BEGUN_NS) % (4 * S) < seen_ns]

        monkeypatch.setattr(looks, "look_times", with_holes)
        row = split(lab.write())["q1"]
        assert shares_of(row, "cpu_user") == approximately({"cpu_user": 0.5})
        assert row["coverage"] == pytest.approx(1 - 0.5 * lost, abs=2 * WITHIN)
        assert row[UNCOVERED] / row["threads_s"] == pytest.approx(0.5 * lost, abs=2 * WITHIN)

    @pytest.mark.parametrize("every", [2, 8])
    def test_few_looks_say_the_same(
        self, lab: Lab, monkeypatch: pytest.MonkeyPatch, every: int
    ) -> None:
        """A probe that must not cost more looks less often, and each look stands for more time."""
        lab.threads = [backend(lab.serial(100 * every, 60, {READ: 0.5, RUN: 0.5}))]

        def rarely(until_ns: int, dice: random.Random) -> list[int]:
            rare = look_times(until_ns, dice)[::every]
            return [at + dice.randrange(every * LOOK_NS // 2) for at in rare]

        monkeypatch.setattr(looks, "look_times", rarely)
        row = split(lab.write())["q1"]
        assert shares(row) == approximately({"disk_read": 0.5, "cpu_user": 0.5})
        assert row["coverage"] == approximately(1.0)

    def test_without_the_engine_s_word_what_the_kernel_cannot_name_is_not_accounted_for(
        self, lab: Lab
    ) -> None:
        strange = Doing("S", 1, "some_new_function", 9999, word=("Lock", "relation"))
        lab.threads = [backend(lab.serial(100, 200, {strange: 0.4, RUN: 0.6}))]
        assert split(lab.write())["q1"]["coverage"] == approximately(1.0)

    def test_sleep_that_no_rule_knows_is_not_accounted_for(self, lab: Lab) -> None:
        strange = Doing("S", 1, "some_new_function", 9999)
        lab.threads = [backend(lab.serial(100, 200, {strange: 0.4, RUN: 0.6}))]
        lab.told_every_ns = None
        row = split(lab.write())["q1"]
        assert shares(row) == approximately({"cpu_user": 0.6, UNCOVERED: 0.4})

    def test_too_much_is_seen_and_nothing_is_split(self, lab: Lab) -> None:
        lab.threads = [backend(lab.serial(20, 200, self.TRUTH))]

        def change(name: str, row: dict[str, Any]) -> dict[str, Any]:
            return row | {"on_cpu_ns": 3 * row["on_cpu_ns"]} if name == "tasks" else row

        operations, whole = where_time_went(lab.write(change=change))
        coverage = operations["q1"]["coverage"]
        assert coverage > 1.2
        assert set(operations["q1"]["where"].values()) == {None}
        assert whole is not None
        assert whole.coverage == coverage
        assert whole.overcounted == (Doubt("q1", pytest.approx(coverage - 1), is_split=False),)
        assert set(whole.shares.values()) == {None}

    @pytest.mark.parametrize(("factor", "over"), [(0.5, None), (1.0, None), (1.3, 0.09)])
    def test_doubt_is_of_both_tails(self, lab: Lab, factor: float, over: float | None) -> None:
        lab.threads = [backend(lab.serial(100, 200, self.TRUTH))]

        def change(name: str, row: dict[str, Any]) -> dict[str, Any]:
            more = {"on_cpu_ns": round(factor * row["on_cpu_ns"])} if name == "tasks" else {}
            return row | more

        operations, whole = where_time_went(lab.write(change=change))
        assert whole is not None
        assert whole.coverage == pytest.approx(operations["q1"]["coverage"])
        under = 0.15 if factor < 1 else None
        for doubts, share in ((whole.overcounted, over), (whole.uncovered, under)):
            share_values = [doubt.share for doubt in doubts]
            assert share_values == ([] if share is None else [approximately(share)])


class TestParallelQueries:
    """A leader that gathers from two workers, which live as long as a pass."""

    def write(self, lab: Lab, passes: int = 60, **more: Any) -> Run:
        leader = lab.serial(passes, 200, {GATHER: 0.6, RUN: 0.3, QUEUE: 0.1})
        lab.threads = [backend(leader)]
        for number, event in enumerate(lab.events):
            for pid in (1000 + 2 * number, 1001 + 2 * number):
                done = mixed({RUN: 0.5, QUEUE: 0.3, READ: 0.2}, 180, lab.dice)
                born_ns = event["started_ns"] + 10 * MS
                lab.threads.append(Thread(pid, pid, WORKER, born_ns, done, ends=True))
        return lab.write(**more)

    def test_workers_count_from_birth_to_end(self, lab: Lab) -> None:
        row = split(self.write(lab))["q1"]
        threads_s = 60 * (0.2 + 2 * 0.18)
        assert row["threads_s"] == pytest.approx(threads_s, rel=WITHIN)
        assert row["coverage"] == approximately(1.0)
        truth_s = {
            "workers": 60 * 0.2 * 0.6,
            "cpu_user": 60 * (0.06 + 0.18),
            "run_queue": 60 * (0.02 + 0.108),
            "disk_read": 60 * 0.072,
        }
        assert shares(row) == approximately({part: s / threads_s for part, s in truth_s.items()})

    def test_a_worker_is_not_of_the_short_query_after_it(
        self, lab: Lab, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(looks, "look_times", lambda *arguments: look_times(*arguments)[::4])
        self.write(lab)
        for number, event in enumerate(list(lab.events)):
            begun_ns = event["finished_ns"] + MS
            times = {"started_ns": begun_ns, "finished_ns": begun_ns + 6 * MS}
            lab.events.append(event | times | {"sequence": 1000 + number, "operation": "q2"})
        lab.directory /= "with both"
        rows = split(lab.write())
        assert rows["q2"]["threads_s"] == pytest.approx(60 * 0.006, rel=0.1)

    def test_without_a_word_a_latch_beside_workers_is_the_workers(self, lab: Lab) -> None:
        lab.told_every_ns = None
        row = split(self.write(lab))["q1"]
        # A tenth of each pass is before the workers' birth and after their end.
        assert shares_of(row, "client") == approximately({"client": 0.6 * 0.1 * 0.2 / 0.56})
        assert shares_of(row, "workers") == approximately({"workers": 0.6 * 0.9 * 0.2 / 0.56})

    def test_no_part_is_less_than_nothing_where_others_clocks_are_guessed(self, lab: Lab) -> None:
        lab.threads = [backend(lab.serial(50, 30, {RUN: 1.0}))]
        seconds = lab.until_ns - BEGUN_NS
        busy = mixed({RUN: 0.5, QUEUE: 0.5}, seconds / MS, lab.dice)
        lab.threads.append(Thread(150, 150, "stranger", BEGUN_NS, busy))

        def change(name: str, row: dict[str, Any]) -> dict[str, Any]:
            # What the stranger used is missing from the readings around operations.
            mine = {"on_cpu_ns": lab.threads[0].spent_ns(ON_CPU, row["time_ns"]), "run_delay_ns": 0}
            return row | mine if name == "tasks" else row

        lab.extra["cgroup"] = [
            {"time_ns": at, "pid": ROOT, "throttled_ns": at - BEGUN_NS + S}
            for at in range(BEGUN_NS - S, lab.until_ns + S, 100 * MS)
        ]
        row = split(lab.write(change=change))["q1"]
        assert all(row[part] is None or row[part] >= 0.0 for part in PARTS)
        assert row["run_queue"] == row["throttled"] == 0.0

    def test_sessions_of_other_phases_rest_beside_it(self, lab: Lab) -> None:
        """Those of a throughput test wait while the power test plays."""
        lab.sessions = {0: BACKEND, 1: BACKEND + 1}
        lab.threads = [backend(lab.serial(50, 200, {RUN: 0.8, READ: 0.2}))]
        seconds = (lab.until_ns - BEGUN_NS) / MS
        lab.threads.append(backend(mixed({CLIENT: 1.0}, seconds, lab.dice), BACKEND + 1))
        row = split(lab.write())["q1"]
        assert row["threads_s"] == pytest.approx(10.0, rel=WITHIN)
        assert row["coverage"] == approximately(1.0)

    def test_other_clients_and_the_server_s_rest_are_nobody_s_waiting(self, lab: Lab) -> None:
        leader = lab.serial(50, 200, {RUN: 0.8, READ: 0.2})
        seconds = lab.until_ns - BEGUN_NS
        busy = mixed({RUN: 0.1, CLIENT: 0.9}, seconds / MS, lab.dice)
        writer = mixed({RUN: 0.05, CLIENT: 0.95}, seconds / MS, lab.dice)
        stranger = Thread(150, 150, "stranger", BEGUN_NS, busy)
        lab.threads = [backend(leader), stranger, Thread(ROOT, ROOT, "postgres", BEGUN_NS, writer)]
        row = split(lab.write())["q1"]
        # The server's own process adds what it ran, and only that.
        assert row["threads_s"] == pytest.approx(10.0 * 1.05, rel=WITHIN)
        assert row["client"] / row["threads_s"] == approximately(0.0)
        assert row["coverage"] == approximately(1.0)


class TestTheEngineSWords:
    def test_they_say_what_the_kernel_cannot(self, lab: Lab) -> None:
        truth = {LOCK: 0.5, GATHER: 0.2, RUN: 0.3}
        lab.threads = [backend(lab.serial(100, 200, truth))]
        row = split(lab.write())["q1"]
        # As many words as one every 90 ms: sampling noise comes on top.
        assert shares_of(row, "lock", "workers", "client") == pytest.approx(
            {"lock": 0.5, "workers": 0.2, "client": 0.0}, abs=2 * WITHIN
        )
        assert row["coverage"] == approximately(1.0)

    def test_without_them_it_is_the_kernel_s_cause(self, lab: Lab) -> None:
        lab.threads = [backend(lab.serial(50, 200, {LOCK: 0.5, RUN: 0.5}))]
        lab.told_every_ns = None
        assert shares(split(lab.write())["q1"]) == approximately({"client": 0.5, "cpu_user": 0.5})

    def test_a_word_about_a_thread_that_ran_is_of_no_sleep(self, lab: Lab) -> None:
        spinning = Doing(ON_CPU, 1000, word=("Lock", "relation"))
        lab.threads = [backend([lasting(CLIENT, 100), spinning, lasting(CLIENT, 1000), RUN])]
        lab.events = [an_event(0, "q1", BEGUN_NS + 100 * MS, 2000)]
        assert shares(split(lab.write())["q1"]) == approximately({"client": 0.5, "cpu_user": 0.5})

    def test_the_kernel_alone_says_what_a_disk_is_waited_for(self, lab: Lab) -> None:
        logged = Doing("D", 1, LOG.channel, LOG.call, word=("Lock", "relation"))
        lab.threads = [backend(lab.serial(50, 200, {logged: 0.5, RUN: 0.5}))]
        assert shares(split(lab.write())["q1"]) == approximately(
            {"disk_write": 0.5, "cpu_user": 0.5}
        )


class TestEmbeddedEngines:
    def write(self, lab: Lab, pool: dict[Doing, float], **more: Any) -> Run:
        session = lab.serial(100, 200, {HELD: 0.2, RUN: 0.8}, rest=RUN)
        worker: list[Doing] = []
        for event in lab.events:
            now_ns = BEGUN_NS + sum(round(doing.ms * MS) for doing in worker)
            worker.append(lasting(POOL, (event["started_ns"] - now_ns) / MS))
            worker += mixed(pool, 200, lab.dice)
        worker.append(lasting(POOL, 600))
        lab.threads = [
            Thread(ROOT, SESSION_TID, "session", BEGUN_NS, session),
            Thread(ROOT, POOL_TID, "python", BEGUN_NS, worker),
            Thread(ROOT, ROOT, "python", BEGUN_NS, [Doing("S", 1, "hrtimer_nanosleep", 230)]),
        ]
        return lab.write(**more)

    def test_where_threads_wait_between_operations_too_is_the_pool(self, library: Lab) -> None:
        row = split(self.write(library, {POOL: 0.5, HELD: 0.1, RUN: 0.4}))["q1"]
        expected = {"idle": 0.25, "lock": 0.05, "workers": 0.1, "cpu_user": 0.6}
        assert shares(row) == approximately(expected)
        assert row["coverage"] == approximately(1.0)
        assert row["threads_s"] == pytest.approx(40.0)

    def test_a_worker_that_never_ran_is_not_at_work(self, library: Lab) -> None:
        library.at_work = 1
        row = split(self.write(library, {POOL: 1.0}))["q1"]
        assert shares(row) == approximately({"workers": 0.2, "cpu_user": 0.8})
        assert row["threads_s"] == pytest.approx(20.0)

    def test_where_no_thread_was_seen_to_run_it_was_the_thread_of_the_session(
        self, library: Lab
    ) -> None:
        library.at_work = 1
        session = library.serial(200, 4, {RUN: 1.0}, rest=RUN)
        until_ms = sum(doing.ms for doing in session)
        # Told first, and asleep all the time.
        library.threads = [
            Thread(ROOT, ROOT, "python", BEGUN_NS, [lasting(POOL, until_ms)]),
            Thread(ROOT, SESSION_TID, "session", BEGUN_NS, session),
        ]

        def unseen(stream: str, row: dict[str, Any]) -> dict[str, Any]:
            is_session = stream == "waits" and row["tid"] == SESSION_TID
            return row | {"on_cpu_ns": 0} if is_session else row

        row = split(library.write(change=unseen))["q1"]
        assert row["idle"] in (None, 0.0)

    def test_what_a_thread_ran_that_was_not_at_work_is_counted_in_the_whole_too(
        self, library: Lab
    ) -> None:
        library.at_work = 1
        row = split(self.write(library, {POOL: 0.8, RUN: 0.2}))["q1"]
        assert row["threads_s"] == pytest.approx(24.0, rel=WITHIN)
        assert shares_of(row, "idle", "cpu_user") == approximately(
            {"idle": 0.0, "cpu_user": 20 / 24}
        )
        assert row["coverage"] == approximately(1.0)

    def test_several_sessions_are_told_of_together(self, library: Lab) -> None:
        self.write_events_of_two(library)
        rows = split(library.write(tasks=False))
        assert list(rows) == [ALL_TOGETHER]
        row = rows[ALL_TOGETHER]
        assert row["coverage"] == approximately(1.0)
        assert shares_of(row, "disk_read") == approximately({"disk_read": self.asleep(library)})

    def test_a_session_that_hardly_runs_is_at_work_where_operations_fill_its_time(
        self, library: Lab
    ) -> None:
        row = split(self.write_two_filled(library))["q1"]
        assert row["threads_s"] == pytest.approx(2 * 12.0, rel=0.05)
        assert shares_of(row, "disk_read") == pytest.approx({"disk_read": 0.5}, abs=0.03)

    def write_two_filled(self, lab: Lab) -> Run:
        """One session computes, the other one waits for its disk all the time."""
        for session, doing in enumerate((RUN, READ)):
            begun = len(lab.events)
            doings = lab.serial(12, 1000, {doing: 1.0}, rest=doing)
            for event in lab.events[begun:]:
                event["session"] = session
            lab.threads.append(Thread(ROOT, 300 + session, "session", BEGUN_NS, doings))
        return lab.write(tasks=False)

    def test_a_load_of_one_session_is_told_by_operation(self, library: Lab) -> None:
        doings = library.serial(12, 1000, {RUN: 1.0}, rest=RUN, operation="look")
        begun_ms = sum(doing.ms for doing in doings)
        more = Lab(library.directory, dice=library.dice)
        doings += more.serial(12, 1000, {READ: 0.8, RUN: 0.2}, rest=RUN, operation="pay")
        for number, event in enumerate(more.events):
            begin_ns = event["started_ns"] + round(begun_ms * MS)
            times = {"started_ns": begin_ns, "finished_ns": begin_ns + 1000 * MS}
            library.events.append(event | times | {"sequence": 500 + number})
        library.threads.append(Thread(ROOT, SESSION_TID, "session", BEGUN_NS, doings))
        rows = split(library.write(tasks=False))
        assert shares(rows["look"])["cpu_user"] == pytest.approx(1.0, abs=0.05)
        assert shares_of(rows["pay"], "disk_read") == pytest.approx({"disk_read": 0.8}, abs=0.05)

    def test_they_stand_in_the_whole_and_in_no_operation(self, library: Lab) -> None:
        self.write_events_of_two(library)
        operations, whole = where_time_went(library.write(tasks=False))
        assert operations == {}
        assert whole is not None
        assert whole.shares["disk_read"] == approximately(self.asleep(library))

    def asleep(self, lab: Lab) -> float:
        """Of the measured part, by what the two sessions did; they read between operations, too."""
        begun_ns = min(event["started_ns"] for event in lab.events)
        over_ns = max(event["finished_ns"] for event in lab.events)
        on_cpu_ns = [
            t.spent_ns(ON_CPU, over_ns) - t.spent_ns(ON_CPU, begun_ns) for t in lab.threads
        ]
        return 1 - sum(on_cpu_ns) / (over_ns - begun_ns) / len(on_cpu_ns)

    def write_events_of_two(self, lab: Lab) -> None:
        for session in range(2):
            doings = lab.serial(30, 200, {READ: 0.5, RUN: 0.5}, rest=READ)
            for event in lab.events[30 * session :]:
                event["session"] = session
            lab.threads.append(Thread(ROOT, 300 + session, "session", BEGUN_NS, doings))


class TestLoads:
    """Two sessions of a server, each with operations of its own."""

    def write(self, lab: Lab) -> Run:
        lab.sessions = {0: BACKEND, 1: BACKEND + 1}
        kinds = [
            ("pay", {LOCK: 0.6, RUN: 0.2, LOG: 0.2}),
            ("look", {CLIENT: 0.5, RUN: 0.4, QUEUE: 0.1}),
        ]
        for session, (operation, truth) in enumerate(kinds):
            begun = len(lab.events)
            doings = lab.serial(1500, 6, truth, operation=operation)
            for event in lab.events[begun:]:
                event["session"] = session
            lab.threads.append(backend(doings, BACKEND + session))
        return lab.write(tasks=False)

    def test_locks_log_and_client_are_seen_by_operation(self, lab: Lab) -> None:
        rows = split(self.write(lab))
        wide = 2 * WITHIN
        parts = ("lock", "disk_write", "client", "run_queue")
        assert shares_of(rows["pay"], *parts) == pytest.approx(
            dict(zip(parts, (0.6, 0.2, 0.0, 0.02), strict=True)), abs=wide
        )
        assert shares_of(rows["look"], "lock", "client") == pytest.approx(
            {"lock": 0.0, "client": 0.5}, abs=wide
        )
        for row in rows.values():
            assert row["threads_s"] == pytest.approx(9.0)
            assert row["coverage"] == pytest.approx(1.0, abs=wide)


class TestTheMachine:
    def cpus(self, lab: Lab, steal: float) -> list[dict[str, Any]]:
        return [
            {"time_ns": at, "cpu": 0, "user_ns": (at - BEGUN_NS + S) // 2}
            | {"steal_ns": round((at - BEGUN_NS + S) * steal)}
            for at in range(BEGUN_NS - S, lab.until_ns + S, 100 * MS)
        ]

    def test_stolen_time_is_in_no_other_source(self, lab: Lab) -> None:
        # A thread that is on a CPU for half of the time, on a machine that is busy for as much.
        seen = Doing("R", 1)
        lab.threads = [backend(lab.serial(50, 200, {RUN: 0.5, seen: 0.1, READ: 0.4}))]
        lab.extra["cpus"] = self.cpus(lab, steal=0.1)
        row = split(lab.write())["q1"]
        assert shares_of(row, "stolen") == approximately({"stolen": 0.1})
        assert row["coverage"] == approximately(1.0)

    def test_a_limit_holds_threads_back_in_the_run_queue(self, lab: Lab) -> None:
        lab.threads = [backend(lab.serial(50, 200, {RUN: 0.6, QUEUE: 0.4}))]
        begun_ns = BEGUN_NS - S
        lab.extra["cgroup"] = [
            {"time_ns": at, "pid": ROOT, "throttled_ns": round((at - begun_ns) * 0.3)}
            for at in range(begun_ns, lab.until_ns + S, 100 * MS)
        ]
        row = split(lab.write())["q1"]
        assert shares(row) == approximately({"cpu_user": 0.6, "throttled": 0.3, "run_queue": 0.1})

    def test_a_limit_over_two_processes_and_a_restart_is_counted_once(self, lab: Lab) -> None:
        lab.threads = [backend(lab.serial(50, 200, {RUN: 0.6, QUEUE: 0.4}))]
        begun_ns, over_ns = BEGUN_NS - S, lab.until_ns + S
        lives = {ROOT: (begun_ns, over_ns), 77: (begun_ns, over_ns), 76: (begun_ns - S, begun_ns)}
        lab.extra["cgroup"] = [
            {"time_ns": at, "pid": pid, "throttled_ns": round((at - born_ns) * 0.3)}
            for pid, (born_ns, ended_ns) in sorted(lives.items())
            for at in range(born_ns, ended_ns, 100 * MS)
        ]
        row = split(lab.write())["q1"]
        assert shares(row) == approximately({"cpu_user": 0.6, "throttled": 0.3, "run_queue": 0.1})

    def test_without_samples_of_the_machine_stolen_time_is_not_measured(self, lab: Lab) -> None:
        lab.threads = [backend(lab.serial(5, 200, {RUN: 1.0}))]
        assert split(lab.write())["q1"]["stolen"] is None


class TestClusters:
    """Threads of several processes that rest in pools: which were at work nobody tells."""

    @pytest.mark.parametrize("pids", [[[BACKEND], [ROOT]], [[BACKEND, ROOT]]])
    def test_time_is_not_split_and_counters_stay(self, lab: Lab, pids: list[list[int]]) -> None:
        lab.threads = [backend(lab.serial(10, 200, {RUN: 1.0}))]
        lab.at_work = 30
        run = with_nodes(lab.write(), pids)
        operations, whole = where_time_went(run)
        assert whole is None
        shares_q1 = operations["q1"]
        assert set(shares_q1["where"].values()) == {None}
        assert (shares_q1["coverage"], shares_q1["threads_at_work"]) == (None, None)
        assert shares_q1["parallelism"] == pytest.approx(1.0, abs=FLOAT_ABSOLUTE)

    @pytest.mark.parametrize("pids", [[], [[BACKEND]], [[BACKEND], []]])
    def test_one_process_here_is_split_as_any(self, lab: Lab, pids: list[list[int]]) -> None:
        lab.threads = [backend(lab.serial(10, 200, {RUN: 1.0}))]
        operations, _ = where_time_went(with_nodes(lab.write(), pids))
        assert operations["q1"]["where"]["cpu_user"] == approximately(1.0)


def with_nodes(run: Run, pids: list[list[int]]) -> Run:
    nodes = [
        {"name": f"n{at}", "role": "worker", "host": "here", "pids": own}
        for at, own in enumerate(pids)
    ]
    run.facts["cluster"] = {"nodes": nodes}
    return run


class TestRecordsWithoutLooks:
    def test_counters_tell_what_they_can(self, lab: Lab) -> None:
        lab.threads = [backend(lab.serial(10, 200, {RUN: 0.6, QUEUE: 0.3, READ: 0.1}))]
        lab.at_work = 1
        run = lab.write()
        (run.dir / "raw" / "waits.arrows").unlink()
        assert wall_split(run) is None
        operations, whole = where_time_went(run)
        where = operations["q1"]["where"]
        assert set(where) == set(PARTS)
        assert where["run_queue"] == pytest.approx(0.3, abs=FLOAT_ABSOLUTE)
        assert where[UNCOVERED] == pytest.approx(0.1, abs=FLOAT_ABSOLUTE)
        assert where["lock"] is None
        assert whole is not None
        assert whole.uncovered == (Doubt("q1", pytest.approx(0.1), is_split=True),)

    def test_refused_rules_of_a_record_leave_the_counters(
        self, lab: Lab, caplog: pytest.LogCaptureFixture
    ) -> None:
        lab.threads = [backend(lab.serial(5, 200, {RUN: 1.0}))]
        lab.waits = {"rules": [{"cause": "boredom", "states": ["S"], "says": "x"}]}
        operations, _ = where_time_went(lab.write())
        assert operations["q1"]["where"]["lock"] is None
        assert "boredom" in caplog.text

    @pytest.mark.parametrize("stream", ["waits", "backends"])
    def test_an_empty_stream_tells_nothing(self, lab: Lab, stream: str) -> None:
        root = Thread(ROOT, ROOT, "postgres", BEGUN_NS, [CLIENT])
        lab.threads = [root, backend(lab.serial(1, 200, {RUN: 1.0}))]
        run = lab.write()
        write_stream(run.dir / "raw" / f"{stream}.arrows", [])
        assert wall_split(Run(run.dir)) is None

    def test_nothing_played_is_nothing_told(self, lab: Lab) -> None:
        lab.threads = [backend(lab.serial(1, 200, {RUN: 1.0}))]
        lab.events[0]["phase"] = "warmup"
        assert wall_split(lab.write()) is None


def test_a_tid_that_is_given_out_again_is_another_thread(lab: Lab) -> None:
    leader = lab.serial(40, 200, {GATHER: 0.5, RUN: 0.5})
    lab.threads = [backend(leader)]
    for event in lab.events:
        done = mixed({RUN: 1.0}, 100, lab.dice)
        born_ns = event["started_ns"] + 20 * MS
        lab.threads.append(Thread(999, 999, WORKER, born_ns, done, ends=True))
    row = split(lab.write())["q1"]
    assert row["threads_s"] == pytest.approx(40 * 0.3, rel=WITHIN)
    assert row["coverage"] == approximately(1.0)


class TestServersOfThreads:
    POLL: ClassVar = Doing("S", 1, "poll_schedule_timeout", 7)

    def write(self, lab: Lab, session: dict[Doing, float], *pools: dict[Doing, float]) -> Run:
        """A listener, a session's thread, and one of the pool, which does these in turn."""
        leader = lab.serial(100, 200, session, rest=OWN)
        worker: list[Doing] = []
        for number, event in enumerate(lab.events):
            now_ns = BEGUN_NS + sum(round(doing.ms * MS) for doing in worker)
            worker.append(lasting(POOL, (event["started_ns"] - now_ns) / MS))
            worker += mixed(pools[number % len(pools)], 200, lab.dice)
            event["operation"] = f"q{number % len(pools) + 1}"
        lab.threads = [
            Thread(ROOT, SESSION_TID, "server", BEGUN_NS, leader),
            Thread(ROOT, POOL_TID, "server", BEGUN_NS, [*worker, lasting(POOL, 600)]),
            Thread(ROOT, ROOT, "server", BEGUN_NS, [self.POLL]),
        ]

        def change(name: str, row: dict[str, Any]) -> dict[str, Any]:
            if name != "tasks" or row["edge"] == "start":
                return row
            has_work = RUN in pools[row["sequence"] % len(pools)]
            return row | {"threads_at_work": 1 + has_work}

        return lab.write(change=change)

    def test_their_time_is_accounted_for(self, threaded: Lab) -> None:
        session = {OWN: 0.3, HELD: 0.1, RUN: 0.5, QUEUE: 0.1}
        row = split(self.write(threaded, session, {POOL: 0.4, READ: 0.1, RUN: 0.5}))["q1"]
        expected = {"cpu_user": 0.5, "run_queue": 0.05, "lock": 0.05, "disk_read": 0.05}
        assert shares(row) == approximately(expected | {"idle": 0.35})
        assert row["coverage"] == approximately(1.0)
        assert row["threads_s"] == pytest.approx(40.0)

    def test_a_connection_s_thread_waits_for_its_client(self, threaded: Lab) -> None:
        threaded.waits = MARIADB
        row = split(self.write(threaded, {self.POLL: 0.2, RUN: 0.8}, {POOL: 1.0}))["q1"]
        assert shares(row) == approximately({"client": 0.2, "cpu_user": 0.8})
        assert row["threads_s"] == pytest.approx(20.0)

    def test_one_futex_has_two_causes_by_how_many_work(self, threaded: Lab) -> None:
        pools: list[dict[Doing, float]] = [{POOL: 1.0}, {POOL: 0.4, RUN: 0.6}]
        rows = split(self.write(threaded, {OWN: 0.4, RUN: 0.6}, *pools))
        assert shares(rows["q1"]) == approximately({"client": 0.4, "cpu_user": 0.6})
        assert shares(rows["q2"]) == approximately({"idle": 0.4, "cpu_user": 0.6})
        assert rows["q2"]["threads_s"] == pytest.approx(2 * rows["q1"]["threads_s"])

    def test_what_serves_other_clients_is_nobody_s_waiting(self, threaded: Lab) -> None:
        """A listener that ran enough to be counted; what it ran is in the whole."""
        self.write(threaded, {OWN: 0.3, RUN: 0.7}, {POOL: 1.0})
        seconds = threaded.until_ns - BEGUN_NS
        listening = mixed({RUN: 0.05, self.POLL: 0.95}, seconds / MS, threaded.dice)
        threaded.threads[-1] = Thread(ROOT, ROOT, "server", BEGUN_NS, listening)
        threaded.at_work = 2
        threaded.directory /= "with a listener"
        row = split(threaded.write())["q1"]
        assert row["threads_s"] == pytest.approx(20.0 * 1.05, rel=WITHIN)
        assert shares_of(row, "client", "cpu_user") == approximately(
            {"client": 0.3 / 1.05, "cpu_user": 0.71}
        )
        assert row["coverage"] == approximately(1.0)

    def test_a_thread_that_looks_after_the_server_is_no_idle_worker(self, threaded: Lab) -> None:
        """It wakes up now and then, as InnoDB's do, and so it was counted as at work."""
        self.write(threaded, {OWN: 0.3, RUN: 0.7}, {POOL: 1.0})
        seconds = threaded.until_ns - BEGUN_NS
        waking = [lasting(RUN, 1), lasting(POOL, 112)] * (seconds // (113 * MS))
        threaded.threads[1] = Thread(ROOT, POOL_TID, "server", BEGUN_NS, waking)
        threaded.at_work = 2
        threaded.directory /= "with upkeep"
        row = split(threaded.write())["q1"]
        assert row["threads_s"] == pytest.approx(20.0 * 1.01, rel=WITHIN)
        assert row["idle"] / row["threads_s"] == approximately(0.0)
        assert shares_of(row, "client", "cpu_user") == approximately(
            {"client": 0.3, "cpu_user": 0.7}
        )

    def test_after_a_crash_another_process_is_the_same_server(self, threaded: Lab) -> None:
        threaded.at_work = 1
        doings = threaded.serial(100, 200, {READ: 0.4, RUN: 0.6}, rest=OWN)
        again_ns = threaded.until_ns - 300 * MS
        threaded.threads = [
            Thread(ROOT, ROOT, "server", BEGUN_NS, doings, ends=True),
            Thread(BACKEND, BACKEND, "server", again_ns, [OWN]),
        ]
        row = split(threaded.write())["q1"]
        assert shares(row) == approximately({"disk_read": 0.4, "cpu_user": 0.6})

    def test_of_several_processes_somebody_must_say_whom_they_serve(self, threaded: Lab) -> None:
        doings = threaded.serial(10, 200, {RUN: 1.0}, rest=OWN)
        threaded.threads = [Thread(pid, pid, "server", BEGUN_NS, doings) for pid in (ROOT, BACKEND)]
        assert wall_split(threaded.write()) is None

    def test_several_sessions_are_told_of_together(self, threaded: Lab) -> None:
        for session in range(2):
            doings = threaded.serial(30, 200, {OWN: 0.5, RUN: 0.5}, rest=OWN)
            for event in threaded.events[30 * session :]:
                event["session"] = session
            threaded.threads.append(Thread(ROOT, 300 + session, "server", BEGUN_NS, doings))
        rows = split(threaded.write(tasks=False))
        assert list(rows) == [ALL_TOGETHER]
        row = rows[ALL_TOGETHER]
        assert row["coverage"] == approximately(1.0)
        assert row["idle"] + row["cpu_user"] == pytest.approx(row["threads_s"], rel=WITHIN)
