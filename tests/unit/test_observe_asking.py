"""What `assay observe` refuses, and the probe that watches statements."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import assay
from assay.engines.discovery import find_engines
from assay.engines.watching import WatchesStatements
from assay.model.errors import UsageError
from assay.model.watched import SessionLook
from assay.probes.contract import Target
from assay.probes.statements import StatementsProbe
from assay.running.asked.observe import observation_of, observe_options

DSN = "postgresql://reader@db/shop"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "--dsn"),
        (
            {"dsn": DSN, "time": "3s", "until_stopped": True},
            "--time and --until-stopped contradict each other",
        ),
        ({"dsn": DSN, "time": "soon"}, "--time"),
        ({"dsn": DSN, "time": "0s"}, "above 0"),
        ({"dsn": DSN, "probe_interval": "1us"}, "--probe-interval"),
        ({"dsn": DSN, "engine_host": "db"}, "--engine-host needs --fleet with the address"),
        (
            {"dsn": DSN, "fleet": "tcp://127.0.0.1:8786"},
            "generates no load: name the agent on the server's host",
        ),
        ({"dsn": DSN, "fleet": "2", "engine_host": "db"}, "as tcp://HOST:PORT"),
        ({"dsn": DSN, "fleet": "tcp://db:8786", "engine_host": "db"}, "--fleet-tls DIR"),
        ({"dsn": "host=db", "engine": "duckdb"}, "DuckDB cannot be observed"),
        ({"dsn": "oracle://db"}, "no engine supports the scheme of --dsn oracle://db"),
        ({"dsn": DSN, "engine": "postgresql@18"}, "its version cannot be chosen"),
    ],
)
def test_what_would_do_nothing_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        observation_of(observe_options(options))


def test_the_refusal_of_an_engine_names_those_that_can() -> None:
    with pytest.raises(UsageError) as refused:
        observation_of(observe_options({"dsn": "x", "engine": "sqlite"}))
    able = {
        folder.facts.title
        for folder in find_engines().values()
        if isinstance(folder.engine(), WatchesStatements)
    }
    assert able == {"PostgreSQL", "MySQL", "MariaDB"}
    assert all(title in str(refused.value) for title in able)


def test_an_unknown_option_is_refused_from_python(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--clients"):
        assay.observe(DSN, runs=tmp_path, clients=3)
    assert list(tmp_path.iterdir()) == []


def test_how_long_it_looks() -> None:
    assert observation_of(observe_options({"dsn": DSN})).time_s == 60.0
    assert observation_of(observe_options({"dsn": DSN, "time": "2m"})).time_s == 120.0
    assert observation_of(observe_options({"dsn": DSN, "until_stopped": True})).time_s is None


class Server:
    """A server whose one session executes a statement; another statement comes later."""

    def __init__(self, *, fails_at: int | None = None) -> None:
        self.asked = 0
        self.counted = 0
        self.fails_at = fails_at

    def looks(self) -> list[SessionLook]:
        self.asked += 1
        if self.asked == self.fails_at:
            raise OSError("the server went away")
        return [SessionLook(7, "a", wait_kind="Lock", wait_event="tuple")]

    def counts(self) -> list[tuple[str, Mapping[str, float]]]:
        self.counted += 1
        later = [("late", {"calls": 3.0})] if self.counted > 1 else []
        return [("a", {"calls": 10.0 * self.counted}), ("rests", {"calls": 5.0}), *later]


def watched(server: Server, place: Path, seconds: float = 0.25) -> Any:
    probe = StatementsProbe()
    probe.start(Target(place, 0.02, (), statements=server))
    time.sleep(seconds)
    return probe.stop()


def table(place: Path, stream: str) -> list[dict[str, Any]]:
    with pa.ipc.open_stream(place / f"{stream}.arrows") as reader:
        rows: list[dict[str, Any]] = reader.read_all().to_pylist()
    return rows


def test_each_look_has_a_row_and_one_for_each_session(tmp_path: Path) -> None:
    cost = watched(Server(), tmp_path)
    rows = table(tmp_path, "looks")
    looks = [row for row in rows if row["session"] is None]
    assert len(looks) == cost.samples == len(rows) - len(looks)
    assert cost.error is None
    assert {row["statement"] for row in rows} == {None, "a"}


def test_counts_are_those_of_statements_that_ran(tmp_path: Path) -> None:
    watched(Server(), tmp_path)
    values: dict[str, list[float]] = {}
    for row in table(tmp_path, "statement-counts"):
        values.setdefault(row["statement"], []).append(row["value"])
    # What was not there at the first reading began at nothing.
    assert values == {"a": [10.0, 20.0], "late": [0.0, 3.0]}


def test_a_server_that_goes_away_ends_it_with_its_reason(tmp_path: Path) -> None:
    cost = watched(Server(fails_at=3), tmp_path)
    assert cost.error == "the server went away"
    assert cost.samples == 2


def test_a_server_that_never_answers_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="went away"):
        StatementsProbe().start(Target(tmp_path, 0.02, (), statements=Server(fails_at=1)))


def test_without_a_server_it_does_not_apply(tmp_path: Path) -> None:
    assert not StatementsProbe().applies(Target(tmp_path, 0.1, ()))
