"""Processes of a server whose CPU time is known are given to whom it belongs."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.server.sessions import (
    BACKGROUND,
    OTHER_CLIENTS,
    OURS,
    SESSIONS,
    UNSEEN,
    owners,
    sessions,
    split_by_session,
)
from tests.conftest import BEGUN_NS, MS, S, SyntheticRun, stream_table

ROOT, BACKEND, WORKER, WRITER, STRANGER = 100, 110, 120, 130, 140
TIMES = [0, 1 * S, 2 * S, 3 * S]
WINDOW = (1 * S, 3 * S)


def frame(table: Any) -> pl.DataFrame:
    made = pl.from_arrow(table)
    assert isinstance(made, pl.DataFrame)
    return made


def samples(*rows: dict[str, Any]) -> pl.DataFrame:
    """Samples of the engine's processes; a process that is not named otherwise has used nothing."""
    about = {"account": "engine", "ppid": ROOT, "started_ns": 1, "run_delay_ns": 0}
    bytes_ = {"read_bytes": 0, "write_bytes": 0}
    return frame(stream_table("processes", [about | bytes_ | row for row in rows]))


def alive(pid: int, used_ns: list[int], **more: Any) -> list[dict[str, Any]]:
    """One process in as many samples as it has values."""
    return [
        {"time_ns": time, "pid": pid, "user_ns": used, **more}
        for time, used in zip(TIMES, used_ns, strict=False)
    ]


def backends(*rows: tuple[int, int]) -> pl.DataFrame:
    made = [{"time_ns": 0, "session": session, "backend_pid": pid} for session, pid in rows]
    return frame(stream_table("backends", made))


def activity(*rows: dict[str, Any]) -> pl.DataFrame:
    absent = dict.fromkeys(("leader_pid", "application", "state"))
    schema = {"leader_pid": pl.UInt32, "application": pl.String, "state": pl.String}
    made = [{"time_ns": 0} | absent | row for row in rows]
    return pl.DataFrame(made, schema_overrides=schema | {"pid": pl.UInt32})


def split(processes: pl.DataFrame, **more: Any) -> dict[str, Any]:
    whose = more.get("backends", backends((0, BACKEND)))
    shares = split_by_session(processes, whose, more.get("activity"), WINDOW)
    assert shares is not None
    return shares


class TestWhose:
    def test_a_session_has_what_its_process_used_within_the_window(self) -> None:
        shares = split(
            samples(
                *alive(ROOT, [0, 0, 0, 0]),
                *alive(BACKEND, [500 * MS, 600 * MS, 1_000 * MS, 1_100 * MS], read_bytes=8),
            )
        )
        assert shares[SESSIONS] == [
            {
                "session": 0,
                "cpu_s": pytest.approx(0.5),
                "run_delay_s": 0.0,
                "read_bytes": 0,
                "write_bytes": 0,
                "workers": 0,
                "workers_cpu_s": 0.0,
            }
        ]
        assert shares["window_s"] == pytest.approx(2.0)
        assert shares["shares"][SESSIONS] == pytest.approx(1.0)

    def test_a_worker_is_its_leader_s_session_s(self) -> None:
        shares = split(
            samples(
                *alive(ROOT, [0, 0, 0, 0]),
                *alive(BACKEND, [0, 0, 100 * MS, 100 * MS]),
                {"time_ns": TIMES[2], "pid": WORKER, "user_ns": 200 * MS},
                {"time_ns": TIMES[3], "pid": WORKER, "user_ns": 300 * MS},
            ),
            activity=activity({"pid": WORKER, "leader_pid": BACKEND, "state": "active"}),
        )
        (session,) = shares[SESSIONS]
        assert session["cpu_s"] == pytest.approx(0.4)
        assert (session["workers"], session["workers_cpu_s"]) == (1, pytest.approx(0.3))

    def test_the_server_s_own_processes_are_told_by_their_titles(self) -> None:
        shares = split(
            samples(
                *alive(ROOT, [0, 0, 10 * MS, 10 * MS], title="server"),
                *alive(WRITER, [0, 0, 0, 40 * MS], title="server: writer"),
            ),
            activity=activity({"pid": WRITER}),
        )
        titles = [(entry["title"], entry["cpu_s"]) for entry in shares[BACKGROUND]]
        assert titles == [("server: writer", pytest.approx(0.04)), ("server", pytest.approx(0.01))]
        assert shares[SESSIONS] == []

    @pytest.mark.parametrize("client", [{"application": "psql"}, {"state": "idle"}])
    def test_others_with_a_client_are_neither(self, client: dict[str, str]) -> None:
        shares = split(
            samples(*alive(ROOT, [0] * 4), *alive(STRANGER, [0, 0, 20 * MS, 20 * MS])),
            activity=activity({"pid": STRANGER} | client),
        )
        assert [entry["cpu_s"] for entry in shares[OTHER_CLIENTS]] == [pytest.approx(0.02)]
        assert [entry["cpu_s"] for entry in shares[BACKGROUND]] == [0.0]

    @pytest.mark.parametrize(
        ("application", "owner"),
        [
            ("assay counters", OURS),
            ("assay plans", OURS),
            ("assay", OURS),
            ("assayer", OTHER_CLIENTS),
            (None, OTHER_CLIENTS),
        ],
    )
    def test_connections_of_assay_are_no_other_client(
        self, application: str | None, owner: str
    ) -> None:
        client = {"pid": STRANGER, "state": "active", "application": application}
        shares = split(
            samples(*alive(ROOT, [0] * 4), *alive(STRANGER, [0, 0, 20 * MS, 20 * MS])),
            activity=activity(client),
        )
        used = {name: sum(row["cpu_s"] for row in shares[name]) for name in (OURS, OTHER_CLIENTS)}
        assert used == dict.fromkeys((OURS, OTHER_CLIENTS), 0.0) | {owner: pytest.approx(0.02)}
        assert shares["shares"][owner] == pytest.approx(1.0)

    @pytest.mark.parametrize(
        ("application", "owner"), [("assay counters", OURS), ("psql", OTHER_CLIENTS)]
    )
    def test_a_worker_known_by_its_title_has_the_client_of_its_leader(
        self, application: str, owner: str
    ) -> None:
        title = f"postgres: parallel worker for PID {STRANGER}"
        told = split(
            samples(
                *alive(ROOT, [0] * 4),
                *alive(STRANGER, [0] * 4),
                *alive(WORKER, [0, 0, 30 * MS, 30 * MS], title=title),
            ),
            activity=activity({"pid": STRANGER, "state": "active", "application": application}),
        )
        assert sum(row["cpu_s"] for row in told[owner]) == pytest.approx(0.03)
        assert told["shares"][owner] == pytest.approx(1.0)

    def test_a_session_of_the_load_stays_one_whatever_its_application(self) -> None:
        shares = split(
            samples(*alive(ROOT, [0] * 4), *alive(BACKEND, [0, 0, 20 * MS, 20 * MS])),
            activity=activity({"pid": BACKEND, "state": "active", "application": "assay"}),
        )
        assert [entry["cpu_s"] for entry in shares[SESSIONS]] == [pytest.approx(0.02)]
        assert shares[OURS] == []

    def test_a_session_that_connected_again_has_both_processes(self) -> None:
        whose = owners(backends((0, 1), (1, 2), (0, 3)), None)
        assert dict(whose.sort("pid").select("pid", "session").iter_rows()) == {1: 0, 2: 1, 3: 0}

    def test_other_accounts_are_no_part_of_it(self) -> None:
        driver = [row | {"account": "driver"} for row in alive(BACKEND, [0, 0, S, S])]
        shares = split(samples(*alive(ROOT, [0] * 4), *driver))
        assert (shares[SESSIONS], shares["cpu_s"]) == ([], 0.0)
        assert shares["shares"][SESSIONS] is None


class TestUnseen:
    def test_children_that_no_sample_saw_are_told_as_a_share(self) -> None:
        root = alive(ROOT, [0] * 4)
        root[0]["children_user_ns"] = root[1]["children_user_ns"] = 7 * S
        root[2]["children_user_ns"] = root[3]["children_user_ns"] = 7 * S + 300 * MS
        shares = split(samples(*root, *alive(BACKEND, [0, 0, 100 * MS, 100 * MS])))
        assert shares["unseen_cpu_s"] == pytest.approx(0.3)
        assert shares["shares"][UNSEEN] == pytest.approx(0.75)

    def test_what_was_seen_of_a_child_that_ended_is_not_unseen(self) -> None:
        root = alive(ROOT, [0] * 4)
        root[3]["children_user_ns"] = 250 * MS
        ended = alive(BACKEND, [0, 50 * MS, 200 * MS])
        shares = split(samples(*root, *ended))
        assert shares[SESSIONS][0]["cpu_s"] == pytest.approx(0.15)
        assert shares["unseen_cpu_s"] == pytest.approx(0.05)

    def test_bytes_of_a_child_that_ended_are_not_its_parent_s_as_well(self) -> None:
        root = alive(ROOT, [0] * 4)
        root[3]["read_bytes"] = 5_000
        ended = alive(BACKEND, [0, 0, 0])
        ended[2]["read_bytes"] = 4_000
        shares = split(samples(*root, *ended))
        assert shares[SESSIONS][0]["read_bytes"] == 4_000
        assert shares[BACKGROUND][0]["read_bytes"] == 1_000

    def test_absent_is_not_zero(self) -> None:
        shares = split(samples(*alive(ROOT, [0] * 4), *alive(BACKEND, [0] * 4, read_bytes=None)))
        assert shares[SESSIONS][0]["read_bytes"] is None
        assert shares[SESSIONS][0]["write_bytes"] == 0


# A child's life: when it is first and last sampled, what it uses at each, and what after the last.
LIVES = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 4),
        st.lists(st.integers(0, 50), min_size=4, max_size=4),
        st.integers(0, 50),
        st.booleans(),
    ),
    max_size=12,
)


@given(LIVES)
def test_whatever_comes_and_goes_the_parts_are_the_whole(lives: list[Any]) -> None:
    """The oracle is what all processes used between the window's samples, seen or not."""
    rows, told_of_children, truth_ms, whose = [], [0] * 4, 0, []
    for number, (born, seen, steps, after, is_session) in enumerate(lives):
        pid, used = BACKEND + number, 0
        ended = min(born + seen, len(TIMES))
        for place in range(born, ended):
            used += steps[place]
            truth_ms += steps[place] if place > 1 or (place == 1 and born > 1) else 0
            rows.append({"time_ns": TIMES[place], "pid": pid, "user_ns": used * MS})
        if ended < len(TIMES):
            for place in range(ended, len(TIMES)):
                told_of_children[place] += (used + after) * MS
            truth_ms += after if ended > 1 else 0
        whose += [(0, pid)] if is_session else []
    root = alive(ROOT, [0] * 4)
    for row, children in zip(root, told_of_children, strict=True):
        row["children_user_ns"] = children
    shares = split(samples(*root, *rows), backends=backends(*whose))
    assert shares["cpu_s"] == pytest.approx(truth_ms / 1_000)
    parts = [entry["cpu_s"] for owner in (SESSIONS, BACKGROUND) for entry in shares[owner]]
    assert sum(parts) + shares["unseen_cpu_s"] == pytest.approx(shares["cpu_s"])


class TestOfARun:
    def test_without_backends_nothing_is_told(self, synthetic: SyntheticRun) -> None:
        assert sessions(synthetic.write()) is None

    def test_a_run_is_split_over_its_measured_part(self, synthetic: SyntheticRun) -> None:
        times = [BEGUN_NS - S, synthetic.ended_ns + S]
        synthetic.streams["processes"] = [
            {"time_ns": time, "pid": BACKEND, "account": "engine", "user_ns": used, "ppid": ROOT}
            for time, used in zip(times, (0, S), strict=True)
        ]
        synthetic.streams["backends"] = [{"time_ns": 0, "session": 4, "backend_pid": BACKEND}]
        shares = sessions(synthetic.write())
        assert shares is not None
        assert [entry["session"] for entry in shares[SESSIONS]] == [4]
        assert shares["cpu_s"] == pytest.approx(1.0)

    def test_one_sample_tells_nothing(self) -> None:
        table_frame = samples({"time_ns": 0, "pid": ROOT})
        assert split_by_session(table_frame, backends((0, BACKEND)), None, WINDOW) is None
